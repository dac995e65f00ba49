-- Access: who is signed in at the page (sessions). In the database, so that every replica knows them.

-- +goose Up
set local lock_timeout = '200ms';

create table sessions (
    digest     bytea       primary key check (octet_length(digest) = 32),
    token      text        not null check (token <> '' and octet_length(token) <= 255),
    proof      bytea       not null check (octet_length(proof) = 32),
    opened_at  timestamptz not null,
    expires_at timestamptz not null check (expires_at > opened_at)
);

create index sessions_expires on sessions (expires_at);

comment on table sessions is 'Who is signed in at the page. Nothing in here opens a door: the cookie itself is not kept.';
comment on column sessions.digest is 'SHA-256 of the 32 random bytes that the cookie holds.';
comment on column sessions.token is 'Name of the token it was opened with. Its role is looked up anew at each request, so none is kept here.';
comment on column sessions.proof is 'HMAC-SHA256 of that token''s hash, under the 32 random bytes. Another token of the same name has another.';
comment on column sessions.opened_at is 'When it was opened, by the clock of the process that opened it.';
comment on column sessions.expires_at is 'From then on it is worth nothing. It is removed when somebody else signs in.';

comment on column audit.actor is 'Who did it: cli:NAME, api:TOKEN or api:TOKEN/NAME, page:TOKEN, proxy:USER, open:development where no token was asked for, or handler for one that paused itself. Older rows: api, api:NAME.';
comment on column audit.action is 'What was done: pause, resume, replay, redrive, forget, promote, reveal, export, sign-in, sign-out and the like.';

-- +goose Down
set local lock_timeout = '200ms';
comment on column audit.actor is 'Who did it: cli:NAME, api, api:NAME, or handler for one that paused itself.';
comment on column audit.action is 'What was done: pause, resume, replay, redrive, forget and the like.';
drop table sessions;

-- Dispatch: where each handler stands in the log (handler_cursors), what it failed on (parked, attempts), and what was
-- done by hand (audit).

-- +goose Up
set local lock_timeout = '200ms';

create table handler_cursors (
    handler        text        primary key check (handler <> '' and octet_length(handler) <= 255),
    kind           text        not null check (kind in ('projection', 'sink')),
    position       bigint      not null check (position >= 0),
    started        bigint      not null check (started between 0 and position),
    epoch          bigint      not null default 1 check (epoch >= 1),
    leader         text        check (leader <> '' and octet_length(leader) <= 255),
    led_since      timestamptz,
    paused_at      timestamptz,
    paused_because text        check (octet_length(paused_because) <= 1000),
    held_since     timestamptz,
    held_because   text        check (held_because <> '' and octet_length(held_because) <= 500),
    moved_at       timestamptz,
    created_at     timestamptz not null default now(),
    check ((leader is null) = (led_since is null)),
    check ((paused_at is null) = (paused_because is null)),
    check ((held_since is null) = (held_because is null))
) with (fillfactor = 50);

comment on table handler_cursors is 'One row per handler that was ever led here. Whoever changes its position, its parked events or its state locks this row first.';
comment on column handler_cursors.handler is 'Name of the handler: ledger, or kind of sink and target, such as forward.billing.';
comment on column handler_cursors.kind is 'projection: writes this database in the transaction that moves position. sink: speaks to the outside.';
comment on column handler_cursors.position is 'The cursor: events.id of the last event the handler is done with, parked ones counted as done.';
comment on column handler_cursors.started is 'Where the cursor began: the handler was never asked about events up to this id.';
comment on column handler_cursors.epoch is 'Grows with each new leader and each act of an operator. A leader settles under the epoch it was given, or not at all.';
comment on column handler_cursors.leader is 'The process that took the lead last. It leads as long as its session holds the advisory lock of the handler.';
comment on column handler_cursors.led_since is 'When leader took the lead.';
comment on column handler_cursors.paused_at is 'Set while nobody may lead the handler.';
comment on column handler_cursors.paused_because is 'What the operator typed, or the answer that made the handler pause itself.';
comment on column handler_cursors.held_since is 'Set while the circuit breaker of the leader holds events back.';
comment on column handler_cursors.held_because is 'What the target last failed with.';
comment on column handler_cursors.moved_at is 'When position last grew.';
comment on column handler_cursors.created_at is 'When the handler was first led.';

create table parked (
    handler         text        not null references handler_cursors (handler) on delete cascade,
    event_id        bigint      not null references events (id),
    state           text        not null check (state in ('parked', 'buried')),
    attempts        integer     not null check (attempts >= 0),
    first_failed_at timestamptz not null,
    next_at         timestamptz,
    last_error      text        not null check (octet_length(last_error) <= 500),
    primary key (handler, event_id),
    check ((state = 'parked') = (next_at is not null)),
    check (state = 'parked' or attempts > 0)
);

create index parked_due on parked (handler, next_at, event_id) where state = 'parked';
create index parked_oldest on parked (handler, first_failed_at);
create index parked_event on parked (event_id, handler);

comment on table parked is 'Events a handler failed on, or shall see again. The cursor has passed them; a row goes when the event went well.';
comment on column parked.handler is 'handler_cursors.handler.';
comment on column parked.state is 'parked: tried again at next_at. buried: given up on, kept until somebody redrives it.';
comment on column parked.attempts is 'Attempts spent since the event was last driven by hand.';
comment on column parked.first_failed_at is 'When it was parked or last driven by hand; the age limit counts from here.';
comment on column parked.next_at is 'When it is due, by the clock of the database; null for buried ones.';
comment on column parked.last_error is 'What the latest attempt failed with, no value of the event; empty for a replayed event before its first attempt.';

create table attempts (
    id       bigint      generated always as identity primary key,
    handler  text        not null references handler_cursors (handler) on delete cascade,
    event_id bigint      not null references events (id),
    number   integer     not null check (number >= 1),
    at       timestamptz not null,
    took_ms  bigint      not null check (took_ms >= 0),
    result   text        not null check (result in ('failed', 'buried', 'done')),
    error    text        check (octet_length(error) <= 500),
    check ((result = 'done') = (error is null))
);

create index attempts_event on attempts (event_id, handler, id);

comment on table attempts is 'Attempts that failed, and those that went well after others had failed. An event that went well at once leaves no row.';
comment on column attempts.handler is 'handler_cursors.handler.';
comment on column attempts.number is 'Counts from 1, anew each time the event is driven by hand.';
comment on column attempts.at is 'When the attempt began, by the clock of the database.';
comment on column attempts.took_ms is 'How long it took, in milliseconds.';
comment on column attempts.result is 'failed: to be tried again. buried: given up on. done: it went well.';
comment on column attempts.error is 'What it failed with; holds no value of the event.';

create table audit (
    id      bigint      generated always as identity primary key,
    at      timestamptz not null default now(),
    actor   text        not null check (actor <> '' and octet_length(actor) <= 255),
    action  text        not null check (action ~ '^[a-z][a-z-]{0,62}$'),
    handler text        check (handler <> '' and octet_length(handler) <= 255),
    reason  text        not null check (reason <> '' and octet_length(reason) <= 1000),
    details jsonb       not null default '{}' check (jsonb_typeof(details) = 'object')
);

comment on table audit is 'What was done by hand, or by a handler to itself. Rows are only ever added, in the transaction of the act.';
comment on column audit.at is 'When it was done, by the clock of the database.';
comment on column audit.actor is 'Who did it: cli:NAME, api, api:NAME, or handler for one that paused itself.';
comment on column audit.action is 'What was done: pause, resume, replay, redrive, forget and the like.';
comment on column audit.handler is 'The handler it was done to; null for all. It may be forgotten since.';
comment on column audit.reason is 'What the person typed.';
comment on column audit.details is 'What it came to: counts and positions. No personal data.';

-- +goose StatementBegin
create function audit_only_grows() returns trigger language plpgsql as $$
begin
    raise exception 'rows of audit are neither changed nor removed' using errcode = 'IPN02';
end $$;
-- +goose StatementEnd

create trigger audit_only_grows before update or delete or truncate on audit
    for each statement execute function audit_only_grows();

-- The fence. A leader that was overtaken, or whose cursor an operator moved, raises IPN01, and nothing of its transaction
-- comes true. It runs first, so that the lock on the row keeps any other writer of this handler away until the commit.
-- +goose StatementBegin
create function handler_settle(of text, mine bigint, old bigint, new bigint) returns void language plpgsql as $$
begin
    update handler_cursors set position = new, moved_at = case when new > old then now() else moved_at end
        where handler = of and epoch = mine and position = old and new >= old;
    if not found then
        raise exception 'fenced' using errcode = 'IPN01';
    end if;
end $$;
-- +goose StatementEnd

-- +goose Down
set local lock_timeout = '200ms';
drop table audit, attempts, parked, handler_cursors;
drop function audit_only_grows, handler_settle;

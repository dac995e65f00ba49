-- The payment service's notification configuration: each look at it, and what was done about it.

-- +goose Up
set local lock_timeout = '200ms';

-- The documents are json and not jsonb: they are evidence, kept in the order and the words in which they were sent and read.
create table configuration_pushes (
    id      bigint      generated always as identity primary key,
    at      timestamptz not null default now(),
    process text        not null check (process <> '' and octet_length(process) <= 255),
    trigger text        not null check (trigger in ('start', 'interval', 'command')),
    result  text        not null check (result in ('in_sync', 'drift', 'replaced', 'unconfirmed', 'refused', 'failed', 'deleted')),
    desired json        check (json_typeof(desired) = 'object'),
    before  json        check (json_typeof(before) = 'object'),
    after   json        check (json_typeof(after) = 'object'),
    changes json        not null default '[]' check (json_typeof(changes) = 'array'),
    error   text        check (error <> '' and octet_length(error) <= 500),
    check (desired is not null or result in ('deleted', 'failed')),
    check (error is not null or result <> 'failed')
);

comment on table configuration_pushes is 'Looks at the notification configuration that the payment service holds. Rows are only ever added.';
comment on column configuration_pushes.at is 'When it was recorded, by the clock of the database.';
comment on column configuration_pushes.process is 'The process that looked, host:pid.';
comment on column configuration_pushes.trigger is 'What started it. start: of the program. interval: it was time again. command: a person typed it.';
comment on column configuration_pushes.result is 'What came of it. replaced and unconfirmed have sent a configuration, drift only if after shows another one than before, and deleted has taken one away.';
comment on column configuration_pushes.desired is 'The configuration that was wanted; null where it was to be deleted.';
comment on column configuration_pushes.before is 'What the payment service held; null where it held nothing, or nothing that could be read.';
comment on column configuration_pushes.after is 'What was read back, or before where nothing was sent; null where nothing could be read.';
comment on column configuration_pushes.changes is 'Where before differed from desired, [{setting, from, to}].';
comment on column configuration_pushes.error is 'What it failed with; holds no credential.';

-- +goose StatementBegin
create function configuration_pushes_only_grow() returns trigger language plpgsql as $$
begin
    raise exception 'rows of configuration_pushes are neither changed nor removed' using errcode = 'IPN02';
end $$;
-- +goose StatementEnd

create trigger configuration_pushes_only_grow before update or delete or truncate on configuration_pushes
    for each statement execute function configuration_pushes_only_grow();

-- +goose Down
set local lock_timeout = '200ms';
drop table configuration_pushes;
drop function configuration_pushes_only_grow;

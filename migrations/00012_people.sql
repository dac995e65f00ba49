-- The index that people are searched by: keyed hashes of their e-mail addresses and names.

-- +goose Up
set local lock_timeout = '200ms';

-- No foreign key to events: its check would lock each event's row, which the receipts of duplicates update.
create table people (
    token    bytea  not null check (octet_length(token) = 16),
    event_id bigint not null check (event_id > 0),
    primary key (token, event_id)
);

create index people_event on people (event_id);

comment on table people is 'Which events are about whom, written by the handler people. It holds no names: without the key nobody can be found in it, and no name be tried against it.';
comment on column people.token is 'HMAC-SHA256, cut to 16 bytes, of an e-mail address, a first and last name, or a last name alone, written in one way. The key is the setting IPN_SEARCH_KEY; under another key all tokens differ.';

-- +goose Down
set local lock_timeout = '200ms';
drop table people;

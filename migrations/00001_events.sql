-- The record: events (what was told), payloads (how it was told), variants (told differently under the same identity),
-- quarantine (not believed, or not storable). Money facts stand apart from personal data: events carries no names.

-- +goose Up
set local lock_timeout = '200ms';

create table events (
    id                      bigint generated always as identity primary key,
    identity                bytea       not null unique check (octet_length(identity) = 32),
    transaction_type        text        check (transaction_type <> '' and octet_length(transaction_type) <= 255),
    reference_number        text        check (reference_number <> '' and octet_length(reference_number) <= 255),
    original_reference      text        check (original_reference <> '' and octet_length(original_reference) <= 255),
    reversal_reference      text        check (reversal_reference <> '' and octet_length(reversal_reference) <= 255),
    subscription_id         text        check (subscription_id <> '' and octet_length(subscription_id) <= 255),
    account_id              text        check (account_id <> '' and octet_length(account_id) <= 255),
    contract_id             text        check (contract_id <> '' and octet_length(contract_id) <= 255),
    merchant_transaction_id text        check (merchant_transaction_id <> '' and octet_length(merchant_transaction_id) <= 255),
    vendor_id               text        check (vendor_id <> '' and octet_length(vendor_id) <= 255),
    amount                  numeric,
    currency                text        check (currency ~ '^[A-Z]{3}$'),
    amount_usd              numeric,
    tax_amount              numeric,
    tax_usd                 numeric,
    payment_method          text        check (payment_method <> '' and octet_length(payment_method) <= 255),
    country                 text        check (country <> '' and octet_length(country) <= 255),
    status                  text        check (status <> '' and octet_length(status) <= 255),
    test                    boolean     not null,
    occurred_at             timestamptz,
    problems                jsonb       not null default '[]' check (jsonb_typeof(problems) = 'array'),
    verification            text        not null check (verification in ('signature', 'auth_key', 'promoted', 'unsigned', 'failed', 'off')),
    digest                  bytea       not null check (octet_length(digest) = 32),
    content_digest          bytea       not null check (octet_length(content_digest) = 32),
    receipts                bigint      not null default 1 check (receipts >= 1),
    received_at             timestamptz not null,
    last_received_at        timestamptz not null check (last_received_at >= received_at),
    sorted_at               timestamptz not null generated always as (coalesce(occurred_at, received_at)) stored
);

create index events_reference on events (reference_number, transaction_type);
create index events_sorted on events (sorted_at desc, id desc);
create index events_type_sorted on events (transaction_type, sorted_at desc, id desc);
create index events_subscription on events (subscription_id) where subscription_id is not null;
create index events_account on events (account_id) where account_id is not null;
create index events_merchant_transaction on events (merchant_transaction_id) where merchant_transaction_id is not null;

comment on table events is 'One row per event, in commit order: ids ascend as transactions become visible, so a reader that asks for id > cursor misses nothing. No personal data but account_id. Kept for years.';
comment on column events.id is 'Position in the log. Drawn under the log lock (trigger events_in_commit_order); gaps are normal, never supplied by hand.';
comment on column events.identity is 'SHA-256 of the meaning-based key of the transaction type: what makes two posts the same event.';
comment on column events.transaction_type is 'Canonical name, or the name as sent when unknown; null when the body had none.';
comment on column events.reference_number is 'The sender''s number of the transaction; of refunds and disputes that of the transaction they act on.';
comment on column events.original_reference is 'The first charge of the subscription, or the charge acted on.';
comment on column events.reversal_reference is 'A refund''s or dispute''s own number.';
comment on column events.subscription_id is 'The sender''s number of the subscription.';
comment on column events.account_id is 'The shopper, by the sender''s number or the merchant''s: the one personal key kept here, since people are looked up by it.';
comment on column events.contract_id is 'The plan; of a CONTRACT_CHANGE the old one.';
comment on column events.merchant_transaction_id is 'The merchant''s own id of the transaction.';
comment on column events.vendor_id is 'The vendor of a marketplace that the event is about.';
comment on column events.amount is 'What the shopper was charged or given back, as magnitude; the direction follows from the type.';
comment on column events.currency is 'ISO 4217 code of amount and tax_amount.';
comment on column events.amount_usd is 'amount in US dollars as the sender converted it; null for a partial reversal, where the sender tells that of the whole invoice.';
comment on column events.tax_amount is 'Tax within amount, a magnitude in currency; null for a partial reversal.';
comment on column events.tax_usd is 'tax_amount in US dollars as the sender converted it.';
comment on column events.payment_method is 'How the shopper paid, as sent.';
comment on column events.country is 'The shopper''s country, as sent.';
comment on column events.status is 'What the event says of its state: a dispute''s cbStatus in upper case, a plan change''s resultCode.';
comment on column events.test is 'testMode=Y: a test order of the merchant. Never enters live books.';
comment on column events.occurred_at is 'The sender''s transactionDate as an instant; null when absent or unreadable. The text as sent is in the payload.';
comment on column events.problems is 'What the decoder found odd: [{field, code, detail}]. Never holds a field''s value.';
comment on column events.verification is 'What vouched for the first receipt: signature, auth_key, promoted (from quarantine), or nothing (unsigned, failed, off).';
comment on column events.digest is 'SHA-256 of the raw body of the first receipt.';
comment on column events.content_digest is 'SHA-256 of the sorted decoded pairs without ipnId: equal for the same fields in another order or encoding.';
comment on column events.receipts is 'Accepted posts of this event, duplicates and variants included.';
comment on column events.received_at is 'When the first receipt arrived. With id it finds the payload.';
comment on column events.sorted_at is 'The time the event is listed under: occurred_at, or received_at where the sender gave none.';

-- Every writer of the log takes one lock before its id is drawn: that is what makes id order commit order.
-- The recorder takes it in a statement of its own; this trigger holds backfills, repairs and psql to the same rule.
-- +goose StatementBegin
create function events_in_commit_order() returns trigger language plpgsql as $$
begin
    perform pg_advisory_xact_lock(5278945612340001);
    return null;
end $$;
-- +goose StatementEnd

create trigger events_in_commit_order before insert on events
    for each statement execute function events_in_commit_order();

create table payloads (
    event_id    bigint      not null,
    received_at timestamptz not null,
    raw         bytea       not null,
    fields      jsonb       not null check (jsonb_typeof(fields) = 'object'),
    headers     jsonb       not null check (jsonb_typeof(headers) = 'object'),
    peer        inet,
    key_id      text,
    primary key (event_id, received_at)
) partition by range (received_at);

create table payloads_default partition of payloads default;

comment on table payloads is 'How an event was told, first receipt: raw bytes and parsed fields. Personal data lives here, in variants and in quarantine only. Partitioned by month of received_at; months are made ahead.';
comment on table payloads_default is 'Catches what no month was made for, so that a wrong clock can never refuse an event.';
comment on column payloads.event_id is 'events.id. No foreign key: both rows are written by one statement, and payloads may be dropped by month.';
comment on column payloads.raw is 'The body, byte for byte.';
comment on column payloads.fields is 'The non-empty fields, names as sent, repeated names as arrays. Order and empty fields are in raw.';
comment on column payloads.headers is 'The request headers that matter for verification and decoding, lower-case names.';
comment on column payloads.peer is 'The sender''s address, behind declared proxies the right-most undeclared hop.';
comment on column payloads.key_id is 'Names the key that sealed raw and fields; null while they are stored in clear.';

-- A month is made beside the table and attached, so that intake is never locked out while it is made. What a wrong clock has
-- put into payloads_default moves along: a partition whose rows lie there could never be attached. Returns false when it is there already.
-- +goose StatementBegin
create function payloads_make_month(of timestamptz) returns boolean language plpgsql as $$
declare
    first timestamptz := date_trunc('month', of at time zone 'UTC') at time zone 'UTC';
    next  timestamptz := (date_trunc('month', of at time zone 'UTC') + interval '1 month') at time zone 'UTC';
    name  text        := 'payloads_' || to_char(of at time zone 'UTC', 'YYYY_MM');
begin
    perform set_config('lock_timeout', '200ms', true);
    perform pg_advisory_xact_lock(5278945612340002);
    if to_regclass(name) is not null then
        return false;
    end if;
    execute format('create table %I (like payloads including all)', name);
    execute format('with stray as (delete from payloads_default where received_at >= %L and received_at < %L returning *) insert into %I select * from stray', first, next, name);
    execute format('alter table payloads attach partition %I for values from (%L) to (%L)', name, first, next);
    return true;
end $$;
-- +goose StatementEnd

create table variants (
    id               bigint generated always as identity primary key,
    event_id         bigint      not null references events (id),
    digest           bytea       not null check (octet_length(digest) = 32),
    content_digest   bytea       not null check (octet_length(content_digest) = 32),
    raw              bytea       not null,
    fields           jsonb       not null check (jsonb_typeof(fields) = 'object'),
    headers          jsonb       not null check (jsonb_typeof(headers) = 'object'),
    peer             inet,
    key_id           text,
    verification     text        not null check (verification in ('signature', 'auth_key', 'promoted', 'unsigned', 'failed', 'off')),
    receipts         bigint      not null default 1 check (receipts >= 1),
    received_at      timestamptz not null,
    last_received_at timestamptz not null check (last_received_at >= received_at),
    unique (event_id, content_digest)
);

comment on table variants is 'Receipts of a known identity that tell something else. Kept beside the event, counted, shown; the event itself never changes.';
comment on column variants.receipts is 'How often this very content arrived.';

create table quarantine (
    id                bigint generated always as identity primary key,
    reason            text        not null check (reason in ('signature_missing', 'signature_malformed', 'signature_mismatch', 'auth_key_missing', 'auth_key_mismatch',
                                                             'sender_not_listed', 'media_type', 'content_encoding', 'no_fields', 'too_many_fields', 'refused_by_database')),
    detail            text        check (detail <> '' and octet_length(detail) <= 255),
    answered          smallint    not null check (answered in (200, 401, 403, 415)),
    digest            bytea       not null check (octet_length(digest) = 32),
    raw               bytea       not null,
    headers           jsonb       not null check (jsonb_typeof(headers) = 'object'),
    peer              inet,
    key_id            text,
    receipts          bigint      not null default 1 check (receipts = 1 or receipts > 1 and answered = 200),
    received_at       timestamptz not null,
    promoted_at       timestamptz check (promoted_at >= received_at),
    promoted_event_id bigint      references events (id),
    check ((promoted_at is null) = (promoted_event_id is null))
);

create unique index quarantine_owned on quarantine (digest, reason) where answered = 200;
create index quarantine_waiting on quarantine (id desc) where promoted_at is null;

comment on table quarantine is 'Posts that were not believed or could not be stored as events, with all that is needed to judge them again. Promotable once.';
comment on column quarantine.reason is 'Why it is here; one of a closed set.';
comment on column quarantine.detail is 'More about the reason, never a value from the body: a SQLSTATE, a media type.';
comment on column quarantine.answered is 'The status the sender got. 200: the receiver owns it now, it is never evicted. Else a bounded courtesy copy.';
comment on column quarantine.receipts is 'How often this very body was acknowledged for this reason; a refused copy is never counted.';
comment on column quarantine.promoted_event_id is 'The event it became, once.';

-- +goose StatementBegin
do $$
begin
    if exists (select from pg_settings where name = 'default_toast_compression' and 'lz4' = any (enumvals)) then
        execute 'alter table payloads   alter raw set compression lz4, alter fields set compression lz4';
        execute 'alter table payloads_default alter raw set compression lz4, alter fields set compression lz4';
        execute 'alter table variants   alter raw set compression lz4, alter fields set compression lz4';
        execute 'alter table quarantine alter raw set compression lz4';
    end if;
end $$;
-- +goose StatementEnd

-- +goose Down
set local lock_timeout = '200ms';
drop table quarantine, variants, payloads, events;
drop function events_in_commit_order, payloads_make_month;

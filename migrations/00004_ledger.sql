-- The books: what the events come to. Every row follows from the log alone and can be made again from it
-- (handlers rebuild ledger), so nothing here is the only copy of anything. One writer: the ledger's projection.

-- +goose Up
set local lock_timeout = '200ms';

create table movements (
    event_id         bigint      not null,
    line             smallint    not null check (line >= 0),
    kind             text        not null check (kind in ('charge', 'recurring', 'refund', 'cancellation_refund', 'chargeback', 'chargeback_reversal', 'payout')),
    test             boolean     not null,
    reference_number text        check (reference_number <> '' and octet_length(reference_number) <= 255),
    subscription_id  text        check (subscription_id <> '' and octet_length(subscription_id) <= 255),
    at               timestamptz not null,
    day              date        not null check (day = (at at time zone 'UTC')::date),
    currency         text        not null check (currency ~ '^[A-Z]{3}$'),
    amount           numeric     not null,
    tax              numeric,
    amount_usd       numeric,
    primary key (event_id, line),
    check (case when kind in ('charge', 'recurring', 'chargeback_reversal') then least(amount, tax, amount_usd) >= 0
                else greatest(amount, tax, amount_usd) <= 0 end)
);

comment on table movements is 'Signed amounts of money, one per event and currency; positive comes in. Their plain sum is daily_totals.';
comment on column movements.event_id is 'events.id. No foreign key: the books are written from the log and never ahead of it.';
comment on column movements.line is '0, and on for the further currencies of a payout.';
comment on column movements.kind is 'Why money moved. A payout goes from the balance to the merchant''s bank: beside the net, not in it.';
comment on column movements.test is 'Of a test order: a book of its own.';
comment on column movements.reference_number is 'The transaction that the money belongs to; null where it belongs to none.';
comment on column movements.subscription_id is 'The subscription that was charged or given back.';
comment on column movements.at is 'When it happened: the event''s occurred_at, or received_at where the sender gave none.';
comment on column movements.day is 'The day of at, in UTC.';
comment on column movements.currency is 'ISO 4217 code of amount and tax.';
comment on column movements.amount is 'Signed, in currency.';
comment on column movements.tax is 'Signed part of amount; null where the sender did not tell.';
comment on column movements.amount_usd is 'Signed, in US dollars as the sender converted it; null where the sender did not tell.';

create table unbooked (
    event_id         bigint  not null,
    reason           text    not null check (reason in ('amount_missing', 'currency_missing', 'same_reversal', 'opening_unknown')),
    test             boolean not null,
    reference_number text    check (reference_number <> '' and octet_length(reference_number) <= 255),
    primary key (event_id, reason)
);

comment on table unbooked is 'Events that tell of money which is not, or not all, in movements: for a person to look at.';
comment on column unbooked.event_id is 'events.id.';
comment on column unbooked.test is 'Of a test order.';
comment on column unbooked.reference_number is 'The transaction that the event belongs to; null where it belongs to none.';
comment on column unbooked.reason is 'Why; one of a closed set.';

create table transactions (
    test                    boolean     not null,
    reference_number        text        not null check (reference_number <> '' and octet_length(reference_number) <= 255),
    state                   text        not null check (state in ('authorised', 'in_review', 'pending', 'charged', 'partially_refunded', 'refunded',
                                                                  'disputed', 'won', 'lost', 'declined', 'incomplete')),
    currency                text        check (currency ~ '^[A-Z]{3}$'),
    charged                 numeric     not null check (charged >= 0),
    refunded                numeric     not null check (refunded >= 0),
    disputed                numeric     not null check (disputed >= 0),
    refundable              numeric     not null check (refundable between 0 and charged),
    tax                     numeric     check (tax >= 0),
    tax_refundable          numeric     check (tax_refundable between 0 and tax),
    charged_usd             numeric     check (charged_usd >= 0),
    subscription_id         text        check (subscription_id <> '' and octet_length(subscription_id) <= 255),
    merchant_transaction_id text        check (merchant_transaction_id <> '' and octet_length(merchant_transaction_id) <= 255),
    account_id              text        check (account_id <> '' and octet_length(account_id) <= 255),
    first_at                timestamptz not null,
    last_at                 timestamptz not null check (last_at >= first_at),
    events                  integer     not null check (events >= 1),
    attention               jsonb       check (jsonb_typeof(attention) = 'array' and attention <> '[]'),
    primary key (reference_number, test)
);

comment on table transactions is 'Where each reference number stands, folded from all of its events. Its timeline is the events themselves.';
comment on column transactions.test is 'Of a test order: a book of its own.';
comment on column transactions.reference_number is 'The sender''s number of the transaction.';
comment on column transactions.state is 'The state of the whole; one of a closed set.';
comment on column transactions.currency is 'ISO 4217 code of the amounts; null where none was told.';
comment on column transactions.charged is 'What was charged.';
comment on column transactions.refunded is 'What was given back, a magnitude.';
comment on column transactions.disputed is 'What open disputes hold or lost ones took, a magnitude.';
comment on column transactions.refundable is 'The rest that can still be refunded.';
comment on column transactions.tax is 'Tax within charged; null where the sender did not tell.';
comment on column transactions.tax_refundable is 'The tax part of refundable; null where a partial refund did not tell its tax.';
comment on column transactions.charged_usd is 'charged in US dollars as the sender converted it; null where the sender did not tell.';
comment on column transactions.subscription_id is 'The subscription it is a charge of.';
comment on column transactions.merchant_transaction_id is 'The merchant''s own id of the transaction.';
comment on column transactions.account_id is 'The shopper: the only personal key in the books.';
comment on column transactions.first_at is 'When its first event happened.';
comment on column transactions.last_at is 'When its latest event happened.';
comment on column transactions.events is 'How many events it was folded from.';
comment on column transactions.attention is 'What a person should look at, as a list of words; null where there is nothing.';

create table subscriptions (
    test            boolean     not null,
    subscription_id text        not null check (subscription_id <> '' and octet_length(subscription_id) <= 255),
    state           text        not null check (state in ('trial', 'active', 'past_due', 'cancel_at_period_end', 'cancelled', 'unknown')),
    contract_id     text        check (contract_id <> '' and octet_length(contract_id) <= 255),
    plan_moves      jsonb       check (jsonb_typeof(plan_moves) = 'array' and plan_moves <> '[]'),
    charges         integer     not null check (charges >= 0),
    failures        integer     not null check (failures >= 0),
    last_amount     numeric     check (last_amount >= 0),
    currency        text        check (currency ~ '^[A-Z]{3}$'),
    next_due_at     timestamptz,
    started_at      timestamptz not null,
    ended_at        timestamptz,
    last_at         timestamptz not null check (last_at >= started_at),
    account_id      text        check (account_id <> '' and octet_length(account_id) <= 255),
    events          integer     not null check (events >= 1),
    attention       jsonb       check (jsonb_typeof(attention) = 'array' and attention <> '[]'),
    primary key (subscription_id, test)
);

comment on table subscriptions is 'Where each subscription stands, folded from all of its events.';
comment on column subscriptions.test is 'Of a test order: a book of its own.';
comment on column subscriptions.subscription_id is 'The sender''s number of the subscription.';
comment on column subscriptions.state is 'Where it stands; one of a closed set.';
comment on column subscriptions.contract_id is 'The plan now.';
comment on column subscriptions.plan_moves is 'Moves from plan to plan, [{at, from, to}], oldest first; null where there are none.';
comment on column subscriptions.charges is 'How often it was charged.';
comment on column subscriptions.failures is 'Failed renewals since the last charge.';
comment on column subscriptions.last_amount is 'What was charged last, in currency.';
comment on column subscriptions.currency is 'ISO 4217 code of last_amount.';
comment on column subscriptions.next_due_at is 'Next renewal, or the end of the last period paid.';
comment on column subscriptions.started_at is 'When its first event happened.';
comment on column subscriptions.ended_at is 'When it was cancelled.';
comment on column subscriptions.last_at is 'When its latest event happened.';
comment on column subscriptions.account_id is 'The shopper: the only personal key in the books.';
comment on column subscriptions.events is 'How many events it was folded from.';
comment on column subscriptions.attention is 'What a person should look at, as a list of words; null where there is nothing.';

create table disputes (
    test               boolean     not null,
    reference_number   text        not null check (reference_number <> '' and octet_length(reference_number) <= 255),
    reversal_reference text        not null default '' check (octet_length(reversal_reference) <= 255),
    state              text        not null check (state in ('open', 'won', 'lost', 'closed')),
    status             text        check (status <> '' and octet_length(status) <= 255),
    path               jsonb       not null check (jsonb_typeof(path) = 'array'),
    amount             numeric     check (amount >= 0),
    currency           text        check (currency ~ '^[A-Z]{3}$'),
    opened_at          timestamptz not null,
    ended_at           timestamptz check ((ended_at is null) = (state = 'open')),
    last_at            timestamptz not null check (last_at >= opened_at),
    events             integer     not null check (events >= 1),
    primary key (reference_number, reversal_reference, test)
);

create index disputes_opened on disputes (test, opened_at desc, reference_number desc, reversal_reference desc);

comment on table disputes is 'Where each dispute stands, folded from all events of its transaction.';
comment on column disputes.test is 'Of a test order: a book of its own.';
comment on column disputes.reference_number is 'The transaction that is disputed.';
comment on column disputes.reversal_reference is 'The dispute''s own number; empty where the sender gave none.';
comment on column disputes.state is 'Where it stands; one of a closed set.';
comment on column disputes.status is 'The sender''s last word on it, in upper case.';
comment on column disputes.path is 'The statuses it went through, [{at, status}], oldest first.';
comment on column disputes.amount is 'What is disputed, a magnitude; null where no amount was told.';
comment on column disputes.currency is 'ISO 4217 code of amount.';
comment on column disputes.opened_at is 'When its first event happened.';
comment on column disputes.ended_at is 'When it was decided or closed.';
comment on column disputes.last_at is 'When its latest event happened.';
comment on column disputes.events is 'How many events it was folded from.';

create table daily_totals (
    test       boolean not null,
    day        date    not null,
    kind       text    not null check (kind in ('charge', 'recurring', 'refund', 'cancellation_refund', 'chargeback', 'chargeback_reversal', 'payout')),
    currency   text    not null check (currency ~ '^[A-Z]{3}$'),
    n          bigint  not null check (n >= 1),
    amount     numeric not null,
    tax        numeric not null,
    amount_usd numeric not null,
    primary key (test, day, kind, currency)
);

comment on table daily_totals is 'The plain sums of movements, kept beside them in the same transactions, so that totals of years need not read them.';
comment on column daily_totals.test is 'Of test orders: a book of its own.';
comment on column daily_totals.day is 'The day in UTC.';
comment on column daily_totals.kind is 'As of movements.';
comment on column daily_totals.currency is 'ISO 4217 code of amount and tax.';
comment on column daily_totals.n is 'How many movements; a row of none is taken away.';
comment on column daily_totals.amount is 'Sum of amount.';
comment on column daily_totals.tax is 'Sum of tax, as far as it was told.';
comment on column daily_totals.amount_usd is 'Sum of amount_usd, as far as it was told.';

create table ledger_reach (
    single   boolean primary key default true check (single),
    event_id bigint  not null default 0 check (event_id >= 0)
);

insert into ledger_reach default values;

comment on table ledger_reach is 'How far into the log the books go: one row. A replay sets the cursor back, never this.';
comment on column ledger_reach.single is 'Keeps the table at one row.';
comment on column ledger_reach.event_id is 'events.id of the highest event taken in. Whatever stands in the books follows from events up to here.';

-- +goose Down
set local lock_timeout = '200ms';
drop table movements, unbooked, transactions, subscriptions, disputes, daily_totals, ledger_reach;

-- The tax of each item of a purchase, as merchants tell it: IPNs know the tax of the whole only.

-- +goose Up
set local lock_timeout = '200ms';

create table tax_records (
    id                      bigint      generated always as identity primary key,
    test                    boolean     not null,
    reference_number        text        check (reference_number <> '' and octet_length(reference_number) <= 255),
    merchant_transaction_id text        check (merchant_transaction_id <> '' and octet_length(merchant_transaction_id) <= 255),
    tax_reference           text        check (tax_reference <> '' and octet_length(tax_reference) <= 255),
    currency                text        not null check (currency ~ '^[A-Z]{3}$'),
    country                 text        check (country <> '' and octet_length(country) <= 255),
    state                   text        check (state <> '' and octet_length(state) <= 255),
    lines                   json        not null check (json_typeof(lines) = 'array'),
    delivery_fee            numeric     not null check (delivery_fee >= 0),
    recorded_at             timestamptz not null default now(),
    check (reference_number is not null or merchant_transaction_id is not null)
);

create unique index tax_records_reference on tax_records (reference_number, test) where reference_number is not null;
create unique index tax_records_merchant on tax_records (merchant_transaction_id, test) where merchant_transaction_id is not null;

comment on table tax_records is 'The lines of a tax quote that a purchase was made with. Rows are only ever added.';
comment on column tax_records.test is 'Of a test order: a book of its own.';
comment on column tax_records.reference_number is 'The sender''s number of the transaction; null where only the merchant''s was known.';
comment on column tax_records.merchant_transaction_id is 'The merchant''s own id of the transaction.';
comment on column tax_records.tax_reference is 'The quote''s own reference.';
comment on column tax_records.currency is 'ISO 4217 code of all amounts.';
comment on column tax_records.country is 'Where the purchase goes to.';
comment on column tax_records.state is 'Where the purchase goes to.';
comment on column tax_records.lines is 'The items, [{itemCode, description, quantity, amount, tax}]: amount without tax, both of the whole line, as texts.';
comment on column tax_records.delivery_fee is 'Fee of the state on the delivery as a whole, which is not refunded.';
comment on column tax_records.recorded_at is 'When it was told.';

create table tax_refunds (
    id                 bigint      generated always as identity primary key,
    record_id          bigint      not null references tax_records (id),
    items              json        not null check (json_typeof(items) = 'array'),
    amount             numeric     not null check (amount >= 0),
    tax                numeric     not null check (tax between 0 and amount),
    reversal_reference text        check (reversal_reference <> '' and octet_length(reversal_reference) <= 255),
    refunded_at        timestamptz not null default now(),
    unique (record_id, reversal_reference)
);

comment on table tax_refunds is 'What merchants said they refunded of a record, so that no piece is refunded twice. Rows are only ever added.';
comment on column tax_refunds.record_id is 'tax_records.id.';
comment on column tax_refunds.items is 'What went back, [{itemCode, quantity}].';
comment on column tax_refunds.amount is 'The total, tax included.';
comment on column tax_refunds.tax is 'The tax in it.';
comment on column tax_refunds.reversal_reference is 'The refund''s own number at the payment service; null where it was not told.';
comment on column tax_refunds.refunded_at is 'When it was told.';

-- +goose Down
set local lock_timeout = '200ms';
drop table tax_refunds, tax_records;

-- What shoppers bring back from their bank: claims, which nobody signed.

-- +goose Up
set local lock_timeout = '200ms';

create table bank_transfer_returns (
    id                      bigint      generated always as identity primary key,
    status                  text        not null check (status in ('SUCCESS', 'PENDING', 'FAIL')),
    order_id                bigint      not null check (order_id > 0),
    transaction_id          text        not null default '' check (octet_length(transaction_id) <= 255),
    merchant_transaction_id text        not null default '' check (octet_length(merchant_transaction_id) <= 255),
    receipts                bigint      not null default 1 check (receipts >= 1),
    received_at             timestamptz not null,
    last_received_at        timestamptz not null check (last_received_at >= received_at),
    unique (order_id, status, transaction_id, merchant_transaction_id)
);

create index bank_transfer_returns_received on bank_transfer_returns (received_at desc, id desc);
create index bank_transfer_returns_transaction on bank_transfer_returns (transaction_id) where transaction_id <> '';
create index bank_transfer_returns_merchant on bank_transfer_returns (merchant_transaction_id) where merchant_transaction_id <> '';

comment on table bank_transfer_returns is 'What the query of the return URL told (specification section 2.7), one row per wording. Unsigned: whoever knows the URL can make one up. Bounded by the receiver.';
comment on column bank_transfer_returns.status is 'STATUS.';
comment on column bank_transfer_returns.order_id is 'ORDER-ID.';
comment on column bank_transfer_returns.transaction_id is 'TRANSACTION-ID, which is the referenceNumber of the IPN; empty unless the status is SUCCESS.';
comment on column bank_transfer_returns.merchant_transaction_id is 'MTI; empty where the merchant gave none.';
comment on column bank_transfer_returns.receipts is 'How often this very query came: people reload pages.';
comment on column bank_transfer_returns.received_at is 'When it came first.';
comment on column bank_transfer_returns.last_received_at is 'When it came last.';

-- +goose Down
set local lock_timeout = '200ms';
drop table bank_transfer_returns;

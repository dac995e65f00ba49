package payments

import (
	"net/url"
	"strconv"
	"unicode/utf8"
)

// Statuses of a bank transfer (specification section 3.2).
const (
	TransferSuccess = "SUCCESS"
	TransferPending = "PENDING"
	TransferFail    = "FAIL"
)

// BankTransferReturn is what the shopper's browser brings back (specification section 2.7). Nobody has signed it: anybody
// can have typed it. It is good to show a page with, and to ask with; that money came is told by
// [Client.ResolveBankTransfer] or by the IPN.
type BankTransferReturn struct {
	Status                string // TransferSuccess, TransferPending or TransferFail
	OrderID               int64
	TransactionID         string // only with TransferSuccess
	MerchantTransactionID string // if one was given when the transfer was created
}

// ParseBankTransferReturn reads the query of a return URL. What the query holds besides is the merchant's own. The error is
// a *[FieldError]: a status that is none, an order that is no number, a parameter that comes twice, a transaction missing
// with SUCCESS or present without, or a text that is too long. What it says of the payment is unsigned all the same.
func ParseBankTransferReturn(query url.Values) (BankTransferReturn, error) {
	result := BankTransferReturn{Status: query.Get("STATUS"), TransactionID: query.Get("TRANSACTION-ID"), MerchantTransactionID: query.Get("MTI")}
	for _, name := range []string{"STATUS", "ORDER-ID", "TRANSACTION-ID", "MTI"} {
		if len(query[name]) > 1 {
			return BankTransferReturn{}, &FieldError{Field: name, Reason: "comes more than once"}
		}
	}
	order, err := strconv.ParseInt(query.Get("ORDER-ID"), 10, 64)
	known := result.Status == TransferSuccess || result.Status == TransferPending || result.Status == TransferFail
	succeeded := result.Status == TransferSuccess
	if err := first(
		wrong(!known, "STATUS", "must be SUCCESS, PENDING or FAIL"),
		wrong(err != nil || order <= 0, "ORDER-ID", "must be a whole number"),
		wrong(succeeded && checkID("", result.TransactionID) != nil, "TRANSACTION-ID", "must be an identifier"),
		wrong(!succeeded && result.TransactionID != "", "TRANSACTION-ID", "is present without SUCCESS"),
		wrong(utf8.RuneCountInString(result.MerchantTransactionID) > longestMerchantID, "MTI", "must be at most 50 characters"),
	); err != nil {
		return BankTransferReturn{}, err
	}
	result.OrderID = order
	return result, nil
}

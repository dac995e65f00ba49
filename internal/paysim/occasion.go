package paysim

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// occasion is the IPN of something that happened to a transaction: a sample of the type, over which
// is laid what is known of the transaction, where the type has such a field, and then the fields
// given, even where it has not. All IPNs of one transaction are laid over the samples of one seed,
// so that the person who is charged is also the one who is refunded. Each gets an ipnId of its own,
// which its resends keep. The lock is held.
func (s *Service) occasion(t *Transaction, transactionType string, fields ...notice.Field) notice.Notice {
	now := s.agenda.Now()
	n := notice.Sample(transactionType, t.Seed, now, s.config.NodeField)
	n.Fields = slices.DeleteFunc(slices.Clone(n.Fields), ofFurtherItems)
	// A single purchase is paid "until" the moment it is made; what belongs to a subscription
	// overrides that in fields.
	known := slices.Concat(
		t.whatWasPaid(), t.whoPays(), t.card(),
		[]notice.Field{{Name: "untilDate", Value: notice.Date(now)}, {Name: "ipnId", Value: s.uuid()}})
	lay(n.Fields, known)
	if t.SubscriptionID != "" {
		n = n.With(notice.Field{Name: "subscriptionId", Value: t.SubscriptionID})
	}
	return t.addCustom(n.With(fields...))
}

// ofFurtherItems reports whether a field of a sample tells of more than the one thing that a
// transaction is for. Left in, it would tell of goods that nobody has bought; promoteContractsNum
// stays, to say that there are none.
func ofFurtherItems(f notice.Field) bool {
	for _, prefix := range []string{"promoteContract", "promoteProduct", "promoteSubscription", "additionalCharge"} {
		if strings.HasPrefix(f.Name, prefix) && f.Name != "promoteContractsNum" {
			return true
		}
	}
	return false
}

// lay puts the values of known fields into a sample. A field that stands twice, as shippingMethod
// does on the wire, gets its value twice; one that the sample does not have is not added: the types
// differ in what they tell, and a receiver that finds more than the wire has would be tested with
// luck.
func lay(sample, known []notice.Field) {
	values := make(map[string]string, len(known))
	for _, f := range known {
		values[f.Name] = f.Value
	}
	for i := range sample {
		if value, ok := values[sample[i].Name]; ok {
			sample[i].Value = value
		}
	}
}

// whatWasPaid are the amounts and references. Amounts without a currency in their name are in that
// of the charge, but for the legacy invoiceAmount, which is in dollars. The invoice's amounts have
// the tax in them, the contract's have not: they are the price of a piece. No field names the tax
// quote; none was ever seen in an IPN.
func (t *Transaction) whatWasPaid() []notice.Field {
	amount, net, inDollars := t.Amount.String(), (t.Amount - t.Tax).String(), USD(t.Amount, t.Currency).String()
	paid := []notice.Field{
		{Name: "referenceNumber", Value: t.ID}, {Name: "merchantTransactionId", Value: t.MerchantTransactionID},
		{Name: "invoiceChargeAmount", Value: amount}, {Name: "invoiceChargeCurrency", Value: t.Currency},
		{Name: "invoiceLocalAmount", Value: amount}, {Name: "invoiceLocalCurrency", Value: t.Currency},
		{Name: "invoiceAmount", Value: inDollars}, {Name: "invoiceAmountUSD", Value: inDollars}, {Name: "currency", Value: t.Currency},
		{Name: "contractPrice", Value: net}, {Name: "contractChargePrice", Value: net}, {Name: "contractLocalPrice", Value: net},
		{Name: "quantity", Value: "1"}, {Name: "promoteContractsNum", Value: "0"}, {Name: "taxChargeAmount", Value: t.Tax.String()},
		{Name: "taxAmountUSD", Value: USD(t.Tax, t.Currency).String()}, {Name: "taxRate", Value: money.Percent(t.TaxRate)},
	}
	if t.Product != "" {
		paid = append(paid, notice.Field{Name: "productName", Value: t.Product}, notice.Field{Name: "contractName", Value: t.Product})
	}
	if plan := t.contract(); plan != "" {
		paid = append(paid, notice.Field{Name: "contractId", Value: plan})
	}
	return paid
}

// whoPays is the shopper, as buyer, as payer of the invoice and as receiver of what is shipped: the
// same fields three times, plain, with "invoice" and with "shipping" before their name. What the
// shopper did not tell is empty, so that nothing made up by the sample stands beside a real answer.
// Country codes are upper case here, though lower case in the API. Without a shopper the sample's
// person stays.
func (t *Transaction) whoPays() []notice.Field {
	p := t.Shopper
	if p == nil {
		return nil
	}
	told := []notice.Field{
		{Name: "title"}, {Name: "firstName", Value: p.FirstName}, {Name: "lastName", Value: p.LastName}, {Name: "company", Value: p.Company},
		{Name: "address1", Value: p.Address1}, {Name: "address2"}, {Name: "city", Value: p.City}, {Name: "state", Value: p.State},
		{Name: "zipCode", Value: p.Zip}, {Name: "country", Value: strings.ToUpper(p.Country)}, {Name: "email", Value: p.Email},
		{Name: "workPhone", Value: p.Phone}, {Name: "extension"}, {Name: "mobilePhone"}, {Name: "faxNumber"},
	}
	all := append(slices.Clone(told), notice.Field{Name: "accountId", Value: strconv.FormatInt(p.ID, 10)}, notice.Field{Name: "homePhone"})
	for _, f := range told {
		title := strings.ToUpper(f.Name[:1]) + f.Name[1:]
		all = append(all, notice.Field{Name: "invoice" + title, Value: f.Value}, notice.Field{Name: "shipping" + title, Value: f.Value})
	}
	return all
}

// card is what IPNs tell of the card, which is never its number: first six and last four digits,
// brand, and the expiry as M/YYYY. Without a card everything about one is empty, and the way to pay
// is left to whoever knows it.
func (t *Transaction) card() []notice.Field {
	c := t.Card
	told := []notice.Field{
		{Name: "creditCardType", Value: c.Brand()}, {Name: "creditCardLastFourDigits", Value: c.LastFour()},
		{Name: "creditCardExpDate"}, {Name: "binNumber"},
	}
	if c.Number == "" {
		return append(told, notice.Field{Name: "cardSubType"}, notice.Field{Name: "cardCategory"}, notice.Field{Name: "binCategory"},
			notice.Field{Name: "cardIssuingOrg"}, notice.Field{Name: "cardIssuingCountry"}, notice.Field{Name: "3DStatus"},
			notice.Field{Name: "cvvSent", Value: "N"}, notice.Field{Name: "cvvResponse"},
			notice.Field{Name: "avsSent", Value: "N"}, notice.Field{Name: "avsResponse"})
	}
	told[2].Value = strings.TrimPrefix(c.ExpirationMonth, "0") + "/" + c.ExpirationYear
	told[3].Value = c.Number[:6]
	return append(told, notice.Field{Name: "paymentMethod", Value: "CC"}, notice.Field{Name: "paymentType", Value: "CC"})
}

// addCustom adds the fields that the merchant named (specification section 6: a field named Color),
// in the order of their names, before ipnId, which stays last. A name that stands there already
// stands there twice, as on the wire: a receiver must cope with a custom field that shadows one of
// the service's.
func (t *Transaction) addCustom(n notice.Notice) notice.Notice {
	for _, name := range slices.Sorted(maps.Keys(t.Custom)) {
		end := len(n.Fields)
		if end > 0 && n.Fields[end-1].Name == "ipnId" {
			end--
		}
		n.Fields = slices.Insert(n.Fields, end, notice.Field{Name: name, Value: t.Custom[name]})
	}
	return n
}

// reversal are the fields of money that goes back. Its own number is reversalRefNum;
// referenceNumber stays the charge's.
func reversal(id string, amount money.Amount, reason string) []notice.Field {
	return []notice.Field{
		{Name: "reversalRefNum", Value: id}, {Name: "reversalAmount", Value: amount.String()}, {Name: "reversalReason", Value: reason},
	}
}

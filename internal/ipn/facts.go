package ipn

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

// The standard fields that facts are read from.
var (
	idTransactionType       = mustName("transactionType")
	idTransactionDate       = mustName("transactionDate")
	idResponseDate          = mustName("responseDate")
	idUntilDate             = mustName("untilDate")
	idTestMode              = mustName("testMode")
	idReferenceNumber       = mustName("referenceNumber")
	idOriginalRefNum        = mustName("originalRefNum")
	idOriginalReference     = mustName("originalReferenceNumber")
	idReversalRefNum        = mustName("reversalRefNum")
	idSubscriptionID        = mustName("subscriptionId")
	idAccountID             = mustName("accountId")
	idContractID            = mustName("contractId")
	idOldContractID         = mustName("oldContractId")
	idNewContractID         = mustName("newContractId")
	idCancelledContractID   = mustName("cancelledContractId")
	idMerchantTransactionID = mustName("merchantTransactionId")
	idVendorID              = mustName("vendorId")
	idPaymentMethod         = mustName("paymentMethod")
	idPaymentType           = mustName("paymentType")
	idCountry               = mustName("country")
	idInvoiceCountry        = mustName("invoiceCountry")
	idState                 = mustName("state")
	idInvoiceState          = mustName("invoiceState")
	idCBStatus              = mustName("cbStatus")
	idResultCode            = mustName("resultCode")

	idAmount                = mustName("amount")
	idCurrency              = mustName("currency")
	idInvoiceAmount         = mustName("invoiceAmount")
	idInvoiceAmountUSD      = mustName("invoiceAmountUSD")
	idInvoiceChargeAmount   = mustName("invoiceChargeAmount")
	idInvoiceChargeCurrency = mustName("invoiceChargeCurrency")
	idReversalAmount        = mustName("reversalAmount")
	idTaxAmountUSD          = mustName("taxAmountUSD")
	idTaxChargeAmount       = mustName("taxChargeAmount")
)

func (r *reader) readFacts() {
	f := &r.Facts
	f.ReferenceNumber = r.text(idReferenceNumber)
	f.OriginalReference = r.text(idOriginalRefNum, idOriginalReference) // the newer name first
	f.ReversalReference = r.text(idReversalRefNum)
	f.SubscriptionID = r.text(idSubscriptionID)
	f.AccountID = r.text(idAccountID)
	f.ContractID = r.text(idContractID, idOldContractID, idCancelledContractID)
	f.NewContractID = r.text(idNewContractID)
	f.MerchantTransactionID = r.text(idMerchantTransactionID)
	f.VendorID = r.text(idVendorID)
	f.PaymentMethod = veilCards(r.text(idPaymentMethod, idPaymentType))
	f.Country, f.State = r.place()
	f.Status = r.text(idResultCode)
	if r.Type.Family == FamilyDispute {
		f.Status = upperASCII(r.text(idCBStatus)) // both letter cases occur
	}
	f.Test, _ = readFlag(r.value(idTestMode))
	r.readTime()
	r.readMoney()
}

// place returns the shopper's country, and the state of the same address: that of another would be taxed elsewhere. People
// type these, and facts are shown unmasked: a card's number in them is veiled.
func (r *reader) place() (country, state string) {
	country, state = r.text(idCountry), r.text(idState)
	if country == "" {
		if country = r.text(idInvoiceCountry); country != "" {
			state = r.text(idInvoiceState)
		}
	}
	return veilCards(country), veilCards(state)
}

// upperASCII leaves all other letters alone: the capital of some is longer, and a text that was cut to fit a column would
// not fit any more.
func upperASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, text)
}

// readTime reads transactionDate, or responseDate, the only date of some account types. The form of the latter is not
// documented: it is tried, and not flagged.
func (r *reader) readTime() {
	r.Facts.UntilAt, _ = parseDate(r.value(idUntilDate), r.zone) // a problem of its form is told with the other fields'
	if text := r.value(idTransactionDate); text != "" {
		at, code := parseDate(text, r.zone)
		if code != "" {
			r.problems.add(r.sent(idTransactionDate), code, "")
		}
		r.Facts.OccurredAt = at
		return
	}
	if text := r.value(idResponseDate); text != "" {
		r.Facts.OccurredAt, _ = parseDate(text, r.zone)
	}
}

// maxFact is the most bytes of text in one fact.
const maxFact = 255

// text returns the value of the first field that has one, fit for a column.
func (r *reader) text(ids ...nameID) string {
	for _, id := range ids {
		if text := r.value(id); text != "" {
			return r.storable(id, text)
		}
	}
	return ""
}

func (r *reader) storable(id nameID, text string) string {
	if len(text) > maxFact {
		end := maxFact
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
		r.problems.add(r.sent(id), TextCut, "")
	}
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "")
		r.problems.add(r.sent(id), TextSanitised, "")
	}
	return text
}

// sent returns a present field's name as it was sent.
func (r *reader) sent(id nameID) string { return r.Fields[r.index.first[id]-1].Name }

// amountSource is a field with an amount and the fields that may tell its currency.
type amountSource struct {
	amount     nameID
	currencies []nameID
	fixed      string // the currency, where the field's meaning tells it
	negative   bool   // counts only with a minus
}

// What the shopper was charged stands in invoiceChargeAmount and invoiceChargeCurrency; currency, the order's, was
// superseded by the latter, and invoiceAmount, in dollars, by the former.
var (
	chargeCurrencies = []nameID{idInvoiceChargeCurrency, idCurrency}

	charged    = amountSource{amount: idInvoiceChargeAmount, currencies: chargeCurrencies}
	chargeback = amountSource{amount: idInvoiceChargeAmount, currencies: chargeCurrencies, negative: true}
	reversed   = amountSource{amount: idReversalAmount, currencies: chargeCurrencies}
	plainly    = amountSource{amount: idAmount, currencies: []nameID{idCurrency, idInvoiceChargeCurrency}}
	dollars    = amountSource{amount: idInvoiceAmountUSD, fixed: "USD"}
	legacy     = amountSource{amount: idInvoiceAmount, fixed: "USD"}

	usualSources    = []amountSource{charged, plainly, dollars, legacy}
	reversalSources = []amountSource{reversed, charged, plainly, dollars, legacy}
	disputeSources  = []amountSource{chargeback, reversed, charged, plainly, dollars, legacy}
)

func (f Family) amountSources() []amountSource {
	switch f {
	case FamilyRefund:
		return reversalSources
	case FamilyDispute:
		return disputeSources
	}
	return usualSources
}

// readMoney finds the amount the event is about. The first field that speaks counts, even if what it says is malformed
// or contradicted: another field's figure in its place would be a guess about money.
func (r *reader) readMoney() {
	f := &r.Facts
	if f.Currency = r.currency(chargeCurrencies); r.readDeposits() {
		return
	}
	source := r.amountSource()
	defer r.soleDeposit()
	if f.Currency = source.fixed; f.Currency == "" {
		f.Currency = r.currency(source.currencies)
	}
	f.Amount = r.amount(source.amount, f.Currency)
	if f.Currency == "" && !f.Amount.IsZero() {
		r.problems.add(r.sent(source.amount), CurrencyInvalid, "the amount has no currency beside it")
	}
	if source.amount == idReversalAmount && !r.reversesAll() {
		if f.Currency == "USD" {
			f.AmountUSD = f.Amount
		}
		return
	}
	f.AmountUSD = r.amount(idInvoiceAmountUSD, "USD")
	f.TaxUSD = r.amount(idTaxAmountUSD, "USD")
	if f.TaxAmount = f.TaxUSD; source.fixed == "" {
		f.TaxAmount = r.amount(idTaxChargeAmount, f.Currency)
	}
}

// amountSource returns the first source of the family whose field was sent with a value, or the charged amount, which
// is then absent.
func (r *reader) amountSource() amountSource {
	for _, source := range r.Type.Family.amountSources() {
		if r.spoken(source) {
			return source
		}
	}
	return charged
}

// spoken tells whether a source's field was sent with a value.
func (r *reader) spoken(s amountSource) bool {
	return r.index.first[s.amount] != 0 && (!s.negative || strings.HasPrefix(r.value(s.amount), "-"))
}

// reversesAll tells whether the reversal is of the whole charge, whose figures stand beside it.
func (r *reader) reversesAll() bool {
	whole, err := ParseMoney(r.value(idInvoiceChargeAmount))
	return err == nil && !whole.IsZero() && whole.Abs().Decimal().Equal(r.Facts.Amount.Decimal())
}

// amount returns a field's magnitude, or absent Money when the field is empty, malformed or contradicted, or has
// decimals that its currency does not know.
func (r *reader) amount(id nameID, currency string) Money {
	text := r.value(id)
	if text == "" {
		return Money{}
	}
	return r.magnitude(r.sent(id), text, currency)
}

func (r *reader) magnitude(name, text, currency string) Money {
	if text == "" {
		return Money{}
	}
	const mostDecimals = 4 // of any currency
	scale, known := scaleOf(currency)
	if !known {
		scale = mostDecimals
	}
	amount, code := readAmount(text)
	if code == "" && len(strings.TrimRight(amount.fraction, "0")) > scale {
		code = AmountScale
	}
	if code != "" {
		r.problems.add(name, code, "")
		return Money{}
	}
	return Money{text: amount.canonical()}.Abs()
}

// currency returns the first of the fields that was sent, in upper case; "" when that one is no currency code.
func (r *reader) currency(ids []nameID) string {
	for _, id := range ids {
		if r.index.first[id] != 0 {
			return asCurrency(r.value(id))
		}
	}
	return ""
}

func asCurrency(text string) string {
	if len(text) != 3 || !isLetter(text[0]) || !isLetter(text[1]) || !isLetter(text[2]) {
		return ""
	}
	return strings.ToUpper(text)
}

// readDeposits reads a payout's amounts, one per currency; the first is the event's amount. It tells whether there was one.
func (r *reader) readDeposits() bool {
	if f := r.Type.Family; f != FamilyPayout && f != FamilyVendor {
		return false
	}
	deposits := readDeposits(newView(r.Event))
	if len(deposits) == 0 {
		return false
	}
	for i, d := range deposits {
		currency := asCurrency(d.Currency)
		if currency == "" && i == 0 {
			currency = r.Facts.Currency
		}
		amount := r.magnitude("amount", d.Amount.String(), currency)
		if i == 0 {
			r.Facts.Amount, r.Facts.Currency = amount, cmp.Or(currency, r.Facts.Currency)
		}
		r.Facts.Deposits = append(r.Facts.Deposits, Deposit{Index: d.Index, Amount: amount, Currency: currency})
	}
	return true
}

// soleDeposit makes a payout that tells one plain amount look like one that numbers its amounts.
func (r *reader) soleDeposit() {
	if f := &r.Facts; r.Type.Family == FamilyPayout && !f.Amount.IsZero() {
		f.Deposits = []Deposit{{Amount: f.Amount, Currency: f.Currency}}
	}
}

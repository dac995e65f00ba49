package finance

import (
	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// totalView is a sum of movements.
type totalView struct {
	ipn.Total
	Amount string `json:"amount" doc:"Signed sum"`
	Tax    string `json:"tax" doc:"Signed sum of the tax parts that were told"`
	USD    string `json:"amountUSD" doc:"Signed sum of the amounts in USD that were told"`
}

func viewTotal(t ipn.Total) totalView {
	return totalView{Total: t, Amount: ipn.Digits(t.Amount), Tax: ipn.Digits(t.Tax), USD: ipn.Digits(t.USD)}
}

// balanceView is what a span came to in one currency.
type balanceView struct {
	ipn.Balance
	Charges  string `json:"charges" example:"2100.00"`
	Refunds  string `json:"refunds"`
	Disputed string `json:"disputed" doc:"Taken by disputes, less what won disputes gave back"`
	Net      string `json:"net" doc:"charges - refunds - disputed"`
	Payouts  string `json:"payouts" doc:"Paid to the bank"`
	Rest     string `json:"rest" doc:"net - payouts: what no IPN explains, such as fees, reserves and what is not paid out yet"`
}

func viewBalance(b ipn.Balance) balanceView {
	return balanceView{Balance: b, Charges: ipn.Digits(b.Charges), Refunds: ipn.Digits(b.Refunds), Disputed: ipn.Digits(b.Disputed),
		Net: ipn.Digits(b.Net), Payouts: ipn.Digits(b.Payouts), Rest: ipn.Digits(b.Rest)}
}

// taxView is the tax of one place in one currency.
type taxView struct {
	ipn.TaxTotal
	Charged   string `json:"charged" doc:"Charges, tax included"`
	Collected string `json:"collected" doc:"Tax within charged"`
	Reversed  string `json:"reversed" doc:"Refunds and disputes, tax included"`
	Refunded  string `json:"refunded" doc:"Tax within reversed, as far as it was told"`
}

func viewTax(t ipn.TaxTotal) taxView {
	return taxView{TaxTotal: t, Charged: ipn.Digits(t.Charged), Collected: ipn.Digits(t.Collected), Reversed: ipn.Digits(t.Reversed), Refunded: ipn.Digits(t.Refunded)}
}

// contractView is what one plan came to in one currency.
type contractView struct {
	ipn.ContractTotal
	Charged  string `json:"charged"`
	Reversed string `json:"reversed" doc:"Refunds and disputes, a magnitude"`
	USD      string `json:"amountUSD" doc:"Charged less reversed in US dollars, as far as that was told: what the list is ordered by"`
}

func viewContract(c ipn.ContractTotal) contractView {
	return contractView{ContractTotal: c, Charged: ipn.Digits(c.Charged), Reversed: ipn.Digits(c.Reversed), USD: ipn.Digits(c.USD)}
}

// ratesView is how often things went wrong.
type ratesView struct {
	ipn.Rates
	DeclineRate    *string `json:"declineRate" doc:"declines / (charges + declines)" example:"0.0312"`
	ChargebackRate *string `json:"chargebackRate" doc:"chargebacks / charges"`
	RefundRate     *string `json:"refundRate" doc:"refunds / charges"`
}

func viewRates(r ipn.Rates) ratesView {
	return ratesView{Rates: r, DeclineRate: rateOrNull(r.DeclineRate), ChargebackRate: rateOrNull(r.ChargebackRate), RefundRate: rateOrNull(r.RefundRate)}
}

// rateOrNull writes a share with four decimals, also where they are zeros.
func rateOrNull(rate decimal.NullDecimal) *string {
	if !rate.Valid {
		return nil
	}
	text := rate.Decimal.StringFixed(4)
	return &text
}

// disputesSum is what is disputed, by how long it is.
type disputesSum struct {
	Open         disputeSum   `json:"open"`
	Ages         []disputeAge `json:"ages" doc:"The youngest first; every age is there"`
	PastDeadline *disputeSum  `json:"pastDeadline,omitempty" doc:"Those whose estimated deadline has passed"`
}

type disputeSum struct {
	Count   int64          `json:"count"`
	Amounts []disputeTotal `json:"amounts" doc:"By currency, those that told an amount"`
}

type disputeTotal struct {
	Currency string `json:"currency"`
	Amount   string `json:"amount"`
}

type disputeAge struct {
	Age     ipn.DisputeAge `json:"age" enum:"under_one_week,under_two_weeks,older" doc:"Since the opening"`
	Count   int64          `json:"count"`
	Amounts []disputeTotal `json:"amounts" doc:"By currency, those that told an amount"`
}

// viewDisputeAges adds up the rows, which are ordered by currency.
func viewDisputeAges(found []ipn.DisputeAgeTotal, days int) disputesSum {
	view := disputesSum{Open: sumOf(found, func(*ipn.DisputeAgeTotal) bool { return true })}
	for _, age := range ipn.DisputeAges() {
		sum := sumOf(found, func(f *ipn.DisputeAgeTotal) bool { return f.Age == age })
		view.Ages = append(view.Ages, disputeAge{Age: age, Count: sum.Count, Amounts: sum.Amounts})
	}
	if days > 0 {
		past := sumOf(found, func(f *ipn.DisputeAgeTotal) bool { return f.PastDeadline })
		view.PastDeadline = &past
	}
	return view
}

// sumOf adds up the rows that belong.
func sumOf(found []ipn.DisputeAgeTotal, belongs func(*ipn.DisputeAgeTotal) bool) disputeSum {
	sum := disputeSum{Amounts: []disputeTotal{}}
	var last decimal.Decimal
	for i := range found {
		f := &found[i]
		if !belongs(f) {
			continue
		}
		sum.Count += f.Count
		if f.Currency == "" {
			continue
		}
		if n := len(sum.Amounts); n == 0 || sum.Amounts[n-1].Currency != f.Currency {
			sum.Amounts, last = append(sum.Amounts, disputeTotal{Currency: f.Currency}), decimal.Zero
		}
		last = last.Add(f.Amount)
		sum.Amounts[len(sum.Amounts)-1].Amount = ipn.Digits(last)
	}
	return sum
}

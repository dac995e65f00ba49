package delivery

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// sums reads the money out of a notice: what was reversed, else what was charged, else each deposit of a payout. A notice
// without readable money has one sum of nothing.
func sums(n notice.Notice) []sum {
	currency := cmp.Or(n.Get("invoiceChargeCurrency"), n.Get("currency"))
	if amount, told := magnitude(n.Get("reversalAmount")); told {
		return []sum{{currency, amount, reversedTax(n)}}
	}
	if amount, told := magnitude(n.Get("invoiceChargeAmount")); told {
		tax, _ := magnitude(n.Get("taxChargeAmount"))
		return []sum{{currency, amount, tax}}
	}
	if found := deposits(n); len(found) > 0 {
		return found
	}
	return []sum{{}}
}

// reversedTax is the invoice's tax where the whole invoice is reversed. That of a part is not told: the notice repeats the
// invoice's.
func reversedTax(n notice.Notice) money.Amount {
	if n.Get("fullRefund") != "Y" {
		return 0
	}
	tax, _ := magnitude(n.Get("taxChargeAmount"))
	return tax
}

// deposits reads amount, amount0, amount[0] and so on, each with the currency of the same index. Several deposits in one
// currency are one sum.
func deposits(n notice.Notice) []sum {
	var found []sum
	for _, index := range indices() {
		amount, told := magnitude(n.Get("amount" + index))
		if !told {
			continue
		}
		found = merge(found, sum{currency: n.Get("currency" + index), amount: amount})
	}
	return found
}

func merge(sums []sum, s sum) []sum {
	for i := range sums {
		if sums[i].currency == s.currency {
			sums[i].amount += s.amount
			return sums
		}
	}
	return append(sums, s)
}

// mostDeposits is more than there are currencies in a payout.
const mostDeposits = 20

func indices() []string {
	all := []string{""}
	for i := range mostDeposits {
		number := strconv.Itoa(i)
		all = append(all, number, "["+number+"]")
	}
	return all
}

// magnitude reads an amount as the wire writes it, with commas between thousands; false when none is told, or it is not an
// amount.
func magnitude(text string) (money.Amount, bool) {
	amount, err := money.Parse(strings.TrimPrefix(strings.ReplaceAll(text, ",", ""), "-"))
	return amount, err == nil
}

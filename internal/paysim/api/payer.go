package api

import (
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
)

// payerInfo is who pays a subscription or a bank transfer (specification sections 2.5 and 2.7), in
// requests and answers. Members that are empty are left out of answers, but for the names.
type payerInfo struct {
	FirstName string `json:"firstName"` // for a bank transfer with a suffix that chooses the outcome (section 3.2)
	LastName  string `json:"lastName"`
	Zip       string `json:"zip,omitempty"`
	Country   string `json:"country,omitempty"` // two letters, lower case in answers
	State     string `json:"state,omitempty"`
	City      string `json:"city,omitempty"`
	Address   string `json:"address1,omitempty"`
	Company   string `json:"companyName,omitempty"`
	Email     string `json:"email,omitempty"`
	Phone     string `json:"phone,omitempty"`
}

// lacks names the first member without which a bank transfer cannot be made, "" when all are there.
// A subscription asks for less: what it lacks, the service says.
func (p payerInfo) lacks() string {
	for _, must := range []struct{ name, value string }{
		{"firstName", p.FirstName}, {"lastName", p.LastName}, {"country", p.Country},
	} {
		if must.value == "" {
			return must.name
		}
	}
	return ""
}

// shopper is the payer as the account will know them.
func (p payerInfo) shopper() paysim.Shopper {
	return paysim.Shopper{
		FirstName: p.FirstName, LastName: p.LastName, Zip: p.Zip, Country: p.Country, State: p.State, City: p.City,
		Address1: p.Address, Company: p.Company, Email: p.Email, Phone: p.Phone,
	}
}

// payerOf shows what the account knows of a payer, the country in lower case whatever case it came
// in.
func payerOf(s *paysim.Shopper) payerInfo {
	return payerInfo{
		FirstName: s.FirstName, LastName: s.LastName, Zip: s.Zip, Country: strings.ToLower(s.Country), State: s.State, City: s.City,
		Address: s.Address1, Company: s.Company, Email: s.Email, Phone: s.Phone,
	}
}

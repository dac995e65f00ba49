package api

import "github.com/ipn-receiver/ipn-receiver/internal/paysim"

// payerInfo is who pays a subscription or a bank transfer.
type payerInfo struct {
	FirstName string `json:"firstName"`
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

func (p payerInfo) shopper() paysim.Shopper {
	return paysim.Shopper{
		FirstName: p.FirstName, LastName: p.LastName, Zip: p.Zip, Country: p.Country, State: p.State, City: p.City,
		Address1: p.Address, Company: p.Company, Email: p.Email, Phone: p.Phone,
	}
}

func payerOf(s *paysim.Shopper) payerInfo {
	return payerInfo{
		FirstName: s.FirstName, LastName: s.LastName, Zip: s.Zip, Country: s.Country, State: s.State, City: s.City,
		Address: s.Address1, Company: s.Company, Email: s.Email, Phone: s.Phone,
	}
}

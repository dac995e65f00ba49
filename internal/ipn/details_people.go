package ipn

// Notice is what every IPN says about itself.
type Notice struct {
	TransactionType string `json:"transactionType,omitempty"`
	TransactionDate Date   `json:"transactionDate,omitzero"`
	TestMode        *bool  `json:"testMode,omitempty"`
	TargetBalance   string `json:"targetBalance,omitempty"`
	AuthKey         string `json:"authKey,omitempty"`
	DeliveryID      string `json:"ipnId,omitempty"`
	Version2        *bool  `json:"ipnV2,omitempty"`
	ResultCode      string `json:"resultCode,omitempty"`
	VendorID        string `json:"vendorId,omitempty"`
	VendorName      string `json:"vendorName,omitempty"`
}

func readNotice(v *view) Notice {
	return Notice{
		TransactionType: v.text("transactionType"),
		TransactionDate: v.date("transactionDate"),
		TestMode:        v.flag("testMode"),
		TargetBalance:   v.text("targetBalance"),
		AuthKey:         v.text("authKey"),
		DeliveryID:      v.text("ipnId"),
		Version2:        v.flag("ipnV2"),
		ResultCode:      v.text("resultCode"),
		VendorID:        v.text("vendorId"),
		VendorName:      v.text("vendorName"),
	}
}

// Shopper is who bought: personal data throughout.
type Shopper struct {
	AccountID       string `json:"accountId,omitempty"`
	SellerShopperID string `json:"sellerShopperId,omitempty"`
	Title           string `json:"title,omitempty"`
	FirstName       string `json:"firstName,omitempty"`
	LastName        string `json:"lastName,omitempty"`
	Company         string `json:"company,omitempty"`
	Address1        string `json:"address1,omitempty"`
	Address2        string `json:"address2,omitempty"`
	City            string `json:"city,omitempty"`
	State           string `json:"state,omitempty"`
	ZipCode         string `json:"zipCode,omitempty"`
	Country         string `json:"country,omitempty"`
	Email           string `json:"email,omitempty"`
	WorkPhone       string `json:"workPhone,omitempty"`
	Extension       string `json:"extension,omitempty"`
	MobilePhone     string `json:"mobilePhone,omitempty"`
	HomePhone       string `json:"homePhone,omitempty"`
	FaxNumber       string `json:"faxNumber,omitempty"`
	Username        string `json:"username,omitempty"`
	PersonalID      string `json:"personalId,omitempty"`
	BrazilianID     string `json:"brazilianId,omitempty"`
}

func readShopper(v *view) Shopper {
	return Shopper{
		AccountID:       v.text("accountId"),
		SellerShopperID: v.text("sellerShopperId"),
		Title:           v.text("title"),
		FirstName:       v.text("firstName"),
		LastName:        v.text("lastName"),
		Company:         v.text("company"),
		Address1:        v.text("address1"),
		Address2:        v.text("address2"),
		City:            v.text("city"),
		State:           v.text("state"),
		ZipCode:         v.text("zipCode"),
		Country:         v.text("country"),
		Email:           v.text("email"),
		WorkPhone:       v.text("workPhone"),
		Extension:       v.text("extension"),
		MobilePhone:     v.text("mobilePhone"),
		HomePhone:       v.text("homePhone"),
		FaxNumber:       v.text("faxNumber"),
		Username:        v.text("username"),
		PersonalID:      v.text("personalId"),
		BrazilianID:     v.text("brazilianId"),
	}
}

// Invoice is whom the invoice is made out to.
type Invoice struct {
	Title       string `json:"invoiceTitle,omitempty"`
	FirstName   string `json:"invoiceFirstName,omitempty"`
	LastName    string `json:"invoiceLastName,omitempty"`
	Company     string `json:"invoiceCompany,omitempty"`
	Address1    string `json:"invoiceAddress1,omitempty"`
	Address2    string `json:"invoiceAddress2,omitempty"`
	City        string `json:"invoiceCity,omitempty"`
	State       string `json:"invoiceState,omitempty"`
	ZipCode     string `json:"invoiceZipCode,omitempty"`
	Country     string `json:"invoiceCountry,omitempty"`
	Email       string `json:"invoiceEmail,omitempty"`
	WorkPhone   string `json:"invoiceWorkPhone,omitempty"`
	Extension   string `json:"invoiceExtension,omitempty"`
	MobilePhone string `json:"invoiceMobilePhone,omitempty"`
	FaxNumber   string `json:"invoiceFaxNumber,omitempty"`
}

func readInvoice(v *view) Invoice {
	return Invoice{
		Title:       v.text("invoiceTitle"),
		FirstName:   v.text("invoiceFirstName"),
		LastName:    v.text("invoiceLastName"),
		Company:     v.text("invoiceCompany"),
		Address1:    v.text("invoiceAddress1"),
		Address2:    v.text("invoiceAddress2"),
		City:        v.text("invoiceCity"),
		State:       v.text("invoiceState"),
		ZipCode:     v.text("invoiceZipCode"),
		Country:     v.text("invoiceCountry"),
		Email:       v.text("invoiceEmail"),
		WorkPhone:   v.text("invoiceWorkPhone"),
		Extension:   v.text("invoiceExtension"),
		MobilePhone: v.text("invoiceMobilePhone"),
		FaxNumber:   v.text("invoiceFaxNumber"),
	}
}

// Shipping is where the goods go.
type Shipping struct {
	FirstName string `json:"shippingFirstName,omitempty"`
	LastName  string `json:"shippingLastName,omitempty"`
	Address1  string `json:"shippingAddress1,omitempty"`
	Address2  string `json:"shippingAddress2,omitempty"`
	City      string `json:"shippingCity,omitempty"`
	State     string `json:"shippingState,omitempty"`
	ZipCode   string `json:"shippingZipCode,omitempty"`
	Country   string `json:"shippingCountry,omitempty"`
	Method    string `json:"shippingMethod,omitempty"`
}

func readShipping(v *view) Shipping {
	return Shipping{
		FirstName: v.text("shippingFirstName"),
		LastName:  v.text("shippingLastName"),
		Address1:  v.text("shippingAddress1"),
		Address2:  v.text("shippingAddress2"),
		City:      v.text("shippingCity"),
		State:     v.text("shippingState"),
		ZipCode:   v.text("shippingZipCode"),
		Country:   v.text("shippingCountry"),
		Method:    v.text("shippingMethod"),
	}
}

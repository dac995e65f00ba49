package ipn

// NameRow is what the external tests see of a row of the table of names.
type NameRow struct {
	Name              string
	Indexed, Critical bool
	Sample            string // a value that fits the name's kind
}

// NameRows lists the table of names.
func NameRows() []NameRow {
	samples := map[kind]string{
		kindText: "plain words", kindAmount: "12.34", kindDate: "05/15/2023 01:02 PM", kindLooseDate: "2023-05-15",
		kindFlag: "Y", kindExpiry: "5/2027", kindCount: "3", kindCurrency: "EUR", kindCountry: "SE",
	}
	var rows []NameRow
	for _, row := range nameTable[1:] {
		rows = append(rows, NameRow{row.name, row.indexed, row.critical, samples[row.kind]})
	}
	return rows
}

// KnownName returns the documented spelling of a standard name, "" for any other.
func KnownName(name string) string { return nameTable[lookupName(name)].name }

// FamilyOf returns the family that a details struct claims.
func FamilyOf(d Details) Family { return d.family() }

// KeyNames returns the names that the identity rules of the types are made of.
func KeyNames() []string {
	names := []string{"transactionType"}
	for _, row := range typeTable {
		for _, list := range row.key {
			for _, part := range list.parts {
				names = append(names, nameTable[part.id].name)
			}
		}
	}
	return names
}

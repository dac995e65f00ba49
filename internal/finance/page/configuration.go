package page

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// configurationData is what the payment service is to send, and what it sends.
type configurationData struct {
	ipn.ConfigurationState
	Known   bool     // there is a configuration to show
	Places  []string // the addresses that IPNs are sent to
	Rows    []settingRow
	Account []settingRow // of one cell each
	Differs int          // settings that are not as wanted
	Looks   []ipn.ConfigurationPush
	Next    int64 // the cursor of the next page of looks; 0: this is the last one
}

// Sync tells whether the payment service held what is wanted: yes, no, or "" while that is not known.
func (d configurationData) Sync() string {
	switch {
	case d.InSync == nil:
		return ""
	case *d.InSync:
		return "yes"
	}
	return "no"
}

// settingRow is one setting, at each address that IPNs are sent to.
type settingRow struct {
	Name  string
	Cells []settingCell
}

// settingCell is a setting as it is wanted and as it is: yes, no, or "" where the address is not there at all.
type settingCell struct{ Wanted, There string }

// Differs tells whether there is something to do.
func (c settingCell) Differs() bool { return c.Wanted != c.There }

func (p *Page) configuration(v *visit) (sheet, error) {
	if p.Office.Configuration == nil {
		return sheet{}, errNothing
	}
	before, err := v.cursorID()
	if err != nil {
		return sheet{}, err
	}
	const looks = 20 // each with its changes
	d := configurationData{ConfigurationState: p.Office.Configuration.ConfigurationState()}
	if d.Looks, d.Next, err = p.Office.ConfigurationPushes(v.Context(), before, looks); err != nil {
		return sheet{}, err
	}
	d.compare()
	return sheet{name: "configuration", title: "Configuration", data: d, wide: true}, nil
}

// compare lays what is wanted and what is there beside each other, in the order they were written in.
func (d *configurationData) compare() {
	wanted, there := readSettings(d.Desired), readSettings(d.Actual)
	both := slices.Concat(wanted, there)
	d.Known = len(both) > 0
	for _, s := range both {
		if s.place != "" && !slices.Contains(d.Places, s.place) {
			d.Places = append(d.Places, s.place)
		}
	}
	for _, s := range both {
		rows, places := &d.Rows, d.Places
		if s.place == "" {
			rows, places = &d.Account, []string{""}
		}
		if slices.ContainsFunc(*rows, func(r settingRow) bool { return r.Name == s.name }) {
			continue
		}
		row := settingRow{Name: s.name}
		for _, place := range places {
			cell := settingCell{find(wanted, place, s.name), find(there, place, s.name)}
			if cell.Differs() {
				d.Differs++
			}
			row.Cells = append(row.Cells, cell)
		}
		*rows = append(*rows, row)
	}
}

// setting is one member of a configuration, of an address or ("") of the whole account.
type setting struct{ place, name, value string }

func find(all []setting, place, name string) string {
	for _, s := range all {
		if s.place == place && s.name == name {
			return s.value
		}
	}
	return ""
}

// readSettings reads a configuration as the payment service writes it (specification section 2.8), in its order; nil for none.
func readSettings(document json.RawMessage) []setting {
	var account struct {
		Destinations []json.RawMessage `json:"ipnDestinations"`
	}
	if json.Unmarshal(document, &account) != nil {
		return nil
	}
	var all []setting
	for _, destination := range account.Destinations {
		var to struct {
			URL string `json:"ipnUrl"`
		}
		if json.Unmarshal(destination, &to) != nil {
			continue
		}
		all = append(all, flags(to.URL, destination)...)
	}
	return append(all, flags("", document)...)
}

// flags returns the members of a JSON object that are true or false, in the order they stand in.
func flags(place string, object json.RawMessage) []setting {
	in := json.NewDecoder(bytes.NewReader(object))
	if _, err := in.Token(); err != nil {
		return nil
	}
	var all []setting
	for in.More() {
		name, err := in.Token()
		var value json.RawMessage
		if err != nil || in.Decode(&value) != nil {
			return all
		}
		switch string(value) {
		case "true":
			all = append(all, setting{place, name.(string), "yes"})
		case "false":
			all = append(all, setting{place, name.(string), "no"})
		}
	}
	return all
}

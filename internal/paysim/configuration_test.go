package paysim_test

import (
	"errors"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

func TestAnIPNGoesWhereItsFlagIsSet(t *testing.T) {
	t.Parallel()
	for _, name := range append(notice.Types(), "BRAND_NEW") {
		s := newStage()
		flag := notice.Flag(name)
		if flag == "" {
			_, err := s.Emit(name)
			wants(t, name+": not taken while the portal has it off", errors.Is(err, paysim.ErrNotTaken), true)
			if s.SwitchPortalType(name, true) == nil {
				_, err = s.Emit(name, notice.Field{Name: "note", Value: "a"})
				wants(t, name+": error", err, nil)
				wants(t, name+": IPNs", s.heard(), name)
			} else {
				wants(t, name+": cannot be switched on", name, "BRAND_NEW")
			}
			continue
		}
		wants(t, name+": the portal cannot switch it", codeOf(t, s.SwitchPortalType(name, true)), "10001")
		s.ReplaceConfiguration(paysim.Configuration{Destinations: []paysim.Destination{
			{URL: "https://one.example.com", Send: map[string]bool{flag: true}},
			{URL: "https://two.example.com", Send: map[string]bool{flag: false}},
		}})
		_, err := s.Emit(name)
		wants(t, name+": error", err, nil)
		wants(t, name+": IPNs", s.heard(), name)
		s.ReplaceConfiguration(paysim.Configuration{Destinations: []paysim.Destination{{URL: "https://one.example.com"}}})
		_, err = s.Emit(name)
		wants(t, name+": not taken when its flag is not told", errors.Is(err, paysim.ErrNotTaken), true)
	}
}

func TestAConfigurationIsReplacedAndDeletedWhole(t *testing.T) {
	t.Parallel()
	s := newStage()
	send := map[string]bool{"sendCharge": true}
	s.ReplaceConfiguration(paysim.Configuration{EnsureReceipt: true, Destinations: []paysim.Destination{{URL: "https://one.example.com", Send: send}}})
	send["sendRefund"] = true // what the caller does with his own afterwards is his affair
	c, there := s.Configuration()
	wants(t, "there", there, true)
	wants(t, "destinations", len(c.Destinations), 1)
	wants(t, "flags", len(c.Destinations[0].Send), 1)
	c.Destinations[0].URL = "https://mine.example.com"
	again, _ := s.Configuration()
	wants(t, "URL", again.Destinations[0].URL, "https://one.example.com")

	s.DeleteConfigurations()
	_, there = s.Configuration()
	wants(t, "there after it was deleted", there, false)
	s.charged(t, nil)
	wants(t, "IPNs", s.heard(), "")
}

package paysim

import "strconv"

// payer finds a vaulted shopper, or enters a new one, and remembers the card, if one is given, as theirs. 15008 when there
// is no such shopper, 30 when nobody is named, and those of checkCard. The lock is held.
func (s *Service) payer(vaulted int64, person Shopper, card Card) (*Shopper, error) {
	shopper, known := s.shoppers[vaulted]
	switch {
	case vaulted != 0 && !known:
		return nil, refuse("15008", "vaultedShopperId", strconv.FormatInt(vaulted, 10))
	case vaulted == 0 && person.FirstName == "" && person.LastName == "":
		return nil, refuse("30", "", "")
	}
	if card.Number != "" {
		if err := s.checkCard(card); err != nil {
			return nil, err
		}
	}
	if !known {
		person.ID = s.number()
		shopper = &person
		s.shoppers[person.ID] = shopper
	}
	if card.Number != "" {
		shopper.Card = card
	}
	return shopper, nil
}

// Shopper returns a vaulted shopper; 15008 when there is none.
func (s *Service) Shopper(id int64) (Shopper, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shopper, known := s.shoppers[id]
	if !known {
		return Shopper{}, refuse("15008", "vaultedShopperId", strconv.FormatInt(id, 10))
	}
	return *shopper, nil
}

package paysim

import "strconv"

// payer finds a vaulted shopper, or enters a new one, and remembers the card, if one is given, as
// theirs. vaulted is the shopper's number, 0 for a new one; person is then who they are, and else
// not looked at: the account knows them already. A card without a number is none: the shopper keeps
// the card of last time, if any.
//
// The answers are 15008 when there is no such shopper, 30 when nobody is named, and those of
// checkCard; nobody is entered and no card remembered then. What can be checked without knowing the
// shopper is best checked before: a request that is refused after this has left its card behind.
// The lock is held.
func (s *Service) payer(vaulted int64, person Shopper, card Card) (*Shopper, error) {
	shopper, known := s.shoppers[vaulted]
	switch {
	case vaulted != 0 && !known:
		return nil, Refuse("15008", "vaultedShopperId", strconv.FormatInt(vaulted, 10))
	case vaulted == 0 && person.FirstName == "" && person.LastName == "":
		return nil, Refuse("30", "", "")
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

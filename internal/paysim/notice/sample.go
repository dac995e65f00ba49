package notice

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"time"
)

// Sample returns a whole notice of a type as it looks on the wire: all names of the type in their order, about half of the
// values empty. nodeField names the field that tells the data centre; "" means serviceNode. An unknown type looks like a
// CHARGE.
//
// The same arguments always return the same notice. All types of one seed tell of one sale: person, card, price and
// references agree, so that a CHARGE and a REFUND of one seed belong together. Two seeds are two sales, with other numbers.
func Sample(transactionType string, seed uint64, at time.Time, nodeField string) Notice {
	k, _ := row(transactionType)
	s := newSale(seed, at)
	said := s.values()
	said["transactionType"] = transactionType
	said["ipnId"] = deliveryID(transactionType, seed, at)
	if k.own != nil {
		maps.Copy(said, k.own(s))
	}
	return Notice{Type: transactionType, Fields: k.fields.fill(said, s.places(cmp.Or(nodeField, "serviceNode")))}
}

// fill writes the fields of a layout. What stands for other fields is replaced by them.
func (l layout) fill(said values, places map[string][]Field) []Field {
	fields := make([]Field, 0, len(l))
	for _, name := range l {
		if several, ok := places[name]; ok {
			fields = append(fields, several...)
			continue
		}
		fields = append(fields, Field{name, said[name]})
	}
	return fields
}

// deliveryID is the UUID that a sender gives each IPN.
func deliveryID(transactionType string, seed uint64, at time.Time) string {
	id := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", transactionType, seed, at.UnixNano()))
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // version 4, as the standard marks it
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:16])
}

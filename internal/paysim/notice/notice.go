// Package notice is what the simulator's IPNs look like: the fields of all 36 types, the way they are encoded, and the
// signature.
//
// Its one non-obvious decision is that a notice is always a whole sample of its type, made from a seed, over which the fields
// of the occasion are laid: a receiver sees the hundred fields of the wire, half of them empty, and not only those a
// simulator has reason to fill.
package notice

import "slices"

// Field is one name=value pair. Names may repeat, as they do on the wire.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Notice is one IPN before it is encoded.
type Notice struct {
	Type   string  `json:"transactionType"`
	Fields []Field `json:"fields"` // in the order of the body, transactionType among them
}

// Get returns the first value of a field, "" when there is none. Letter case counts.
func (n Notice) Get(name string) string {
	if at := n.find(name); at >= 0 {
		return n.Fields[at].Value
	}
	return ""
}

// With returns the notice with fields laid over: the first field of a name gets the value, a name that is not there is
// added before ipnId, which stays last. Letter case counts. A transactionType is the notice's new Type. n keeps its own.
func (n Notice) With(fields ...Field) Notice {
	n.Fields = slices.Clone(n.Fields)
	for _, f := range fields {
		n.set(f)
	}
	return n
}

func (n *Notice) set(f Field) {
	if f.Name == "transactionType" {
		n.Type = f.Value
	}
	if at := n.find(f.Name); at >= 0 {
		n.Fields[at].Value = f.Value
		return
	}
	end := len(n.Fields)
	if end > 0 && n.Fields[end-1].Name == "ipnId" {
		end--
	}
	n.Fields = slices.Insert(n.Fields, end, f)
}

// Without returns the notice without any field of these names. n keeps its own.
func (n Notice) Without(names ...string) Notice {
	n.Fields = slices.DeleteFunc(slices.Clone(n.Fields), func(f Field) bool { return slices.Contains(names, f.Name) })
	return n
}

func (n Notice) find(name string) int {
	return slices.IndexFunc(n.Fields, func(f Field) bool { return f.Name == name })
}

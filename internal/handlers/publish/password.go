package publish

const hidden = "[hidden]"

// A Password is a broker's password or token that does not show itself: fmt, loggers and encoders get "[hidden]". It
// sits in a closure because they walk unexported fields, too. It may be as short as the broker allows. The zero
// Password is none.
type Password struct{ reveal func() string }

// NewPassword hides a text; "" gives the zero Password.
func NewPassword(text string) Password {
	if text == "" {
		return Password{}
	}
	return Password{reveal: func() string { return text }}
}

// IsZero tells whether there is no password.
func (p Password) IsZero() bool { return p.reveal == nil }

// String returns "[hidden]".
func (p Password) String() string { return hidden }

// GoString returns "[hidden]".
func (p Password) GoString() string { return hidden }

// MarshalText returns "[hidden]".
func (p Password) MarshalText() ([]byte, error) { return []byte(hidden), nil }

func (p Password) text() string {
	if p.reveal == nil {
		return ""
	}
	return p.reveal()
}

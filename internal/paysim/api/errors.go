package api

import (
	"encoding/xml"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
)

// messages is the body of an error. It is always a list, here of one. In XML it is the element
// messages, in no namespace: a client is not to depend on one.
type messages struct {
	XMLName xml.Name  `json:"-" xml:"messages"`
	Message []message `json:"message" xml:"message"`
}

// message is one thing that was wrong. Everything but the description may be absent. Its members
// stand in the order that the XML schema fixes; the code is a text here, though clients must take a
// number as well.
type message struct {
	Name        string       `json:"errorName,omitempty" xml:"error-name,omitempty"`
	Code        string       `json:"code,omitempty" xml:"code,omitempty"`
	Description string       `json:"description" xml:"description"`
	Property    *property    `json:"invalidProperty,omitempty" xml:"invalid-property,omitempty"`
	Fraud       *fraudEvents `json:"fraudEvents,omitempty" xml:"fraud-events,omitempty"`
}

// property is the member to blame, by the path the request had it under, and what it held; "" for
// what may not be repeated, as a card number.
type property struct {
	Name  string `json:"name" xml:"name"`
	Value string `json:"messageValue" xml:"message-value"`
}

// fraudEvents are the rules that a payment broke; they come with code 14002 only.
type fraudEvents struct {
	Event []fraudEvent `json:"fraudEvent" xml:"fraud-event"`
}

// fraudEvent is one rule and what it decided.
type fraudEvent struct {
	Code       string `json:"fraudEventCode" xml:"code"`
	Decision   string `json:"fraudEventDecision" xml:"decision"`
	Expression string `json:"fraudEventExpression" xml:"expression"`
}

// messagesOf is a refusal as the body of an answer, in JSON or in XML.
func messagesOf(r *paysim.Refusal) messages {
	m := message{Name: r.Name, Code: r.Code, Description: r.Description, Property: blamed(r), Fraud: suspicions(r)}
	return messages{Message: []message{m}}
}

// blamed is the property of a refusal, nil when none is to blame.
func blamed(r *paysim.Refusal) *property {
	if r.Property == "" {
		return nil
	}
	return &property{Name: r.Property, Value: r.Value}
}

// suspicions are the fraud rules of a refusal, nil when it has another reason.
func suspicions(r *paysim.Refusal) *fraudEvents {
	if r.FraudRule == "" {
		return nil
	}
	return &fraudEvents{Event: []fraudEvent{{Code: r.FraudRule, Decision: "DENY", Expression: r.Description}}}
}

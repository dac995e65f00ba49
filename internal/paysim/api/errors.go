package api

import (
	"encoding/xml"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
)

// messages is the JSON body of an error. It is always a list, here of one.
type messages struct {
	Message []message `json:"message"`
}

// message is one thing that was wrong. Everything but the description may be absent.
type message struct {
	Name        string       `json:"errorName,omitempty"`
	Code        string       `json:"code,omitempty"`
	Description string       `json:"description"`
	Property    *property    `json:"invalidProperty,omitempty"`
	Fraud       *fraudEvents `json:"fraudEvents,omitempty"`
}

// property is the member to blame, by the path the request had it under, and what it held.
type property struct {
	Name  string `json:"name" xml:"name"`
	Value string `json:"messageValue" xml:"message-value"`
}

// fraudEvents are the rules that a payment broke.
type fraudEvents struct {
	Event []fraudEvent `json:"fraudEvent" xml:"fraud-event"`
}

// fraudEvent is one rule and what it decided.
type fraudEvent struct {
	Code       string `json:"fraudEventCode" xml:"code"`
	Decision   string `json:"fraudEventDecision" xml:"decision"`
	Expression string `json:"fraudEventExpression" xml:"expression"`
}

// jsonMessages is a refusal as the body of an answer in JSON.
func jsonMessages(r *paysim.Refusal) messages {
	m := message{Name: r.Name, Code: r.Code, Description: r.Description, Property: blamed(r), Fraud: suspicions(r)}
	return messages{Message: []message{m}}
}

// xmlError is the same in XML, its elements in the documented order.
type xmlError struct {
	XMLName xml.Name     `xml:"messages"`
	Message []xmlMessage `xml:"message"`
}

// xmlMessage is one thing that was wrong, in XML.
type xmlMessage struct {
	Name        string       `xml:"error-name,omitempty"`
	Code        string       `xml:"code,omitempty"`
	Description string       `xml:"description"`
	Property    *property    `xml:"invalid-property,omitempty"`
	Fraud       *fraudEvents `xml:"fraud-events,omitempty"`
}

// xmlMessages is a refusal as the body of an answer in XML. It stands in no namespace.
func xmlMessages(r *paysim.Refusal) xmlError {
	m := xmlMessage{Name: r.Name, Code: r.Code, Description: r.Description, Property: blamed(r), Fraud: suspicions(r)}
	return xmlError{Message: []xmlMessage{m}}
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

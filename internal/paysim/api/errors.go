package api

import (
	"encoding/xml"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
)

// messages is the JSON body of an error. It is always a list, here of one.
type messages struct {
	Message []message `json:"message"`
}

type message struct {
	Name        string       `json:"errorName,omitempty"`
	Code        string       `json:"code,omitempty"`
	Description string       `json:"description"`
	Property    *property    `json:"invalidProperty,omitempty"`
	Fraud       *fraudEvents `json:"fraudEvents,omitempty"`
}

type property struct {
	Name  string `json:"name" xml:"name"`
	Value string `json:"messageValue" xml:"message-value"`
}

type fraudEvents struct {
	Event []fraudEvent `json:"fraudEvent" xml:"fraud-event"`
}

type fraudEvent struct {
	Code       string `json:"fraudEventCode" xml:"code"`
	Decision   string `json:"fraudEventDecision" xml:"decision"`
	Expression string `json:"fraudEventExpression" xml:"expression"`
}

func jsonMessages(r *paysim.Refusal) messages {
	m := message{Name: r.Name, Code: r.Code, Description: r.Description, Property: blamed(r), Fraud: suspicions(r)}
	return messages{Message: []message{m}}
}

// xmlError is the same in XML, its elements in the documented order.
type xmlError struct {
	XMLName xml.Name     `xml:"messages"`
	Message []xmlMessage `xml:"message"`
}

type xmlMessage struct {
	Name        string       `xml:"error-name,omitempty"`
	Code        string       `xml:"code,omitempty"`
	Description string       `xml:"description"`
	Property    *property    `xml:"invalid-property,omitempty"`
	Fraud       *fraudEvents `xml:"fraud-events,omitempty"`
}

func xmlMessages(r *paysim.Refusal) xmlError {
	m := xmlMessage{Name: r.Name, Code: r.Code, Description: r.Description, Property: blamed(r), Fraud: suspicions(r)}
	return xmlError{Message: []xmlMessage{m}}
}

func blamed(r *paysim.Refusal) *property {
	if r.Property == "" {
		return nil
	}
	return &property{Name: r.Property, Value: r.Value}
}

func suspicions(r *paysim.Refusal) *fraudEvents {
	if r.FraudRule == "" {
		return nil
	}
	return &fraudEvents{Event: []fraudEvent{{Code: r.FraudRule, Decision: "DENY", Expression: r.Description}}}
}

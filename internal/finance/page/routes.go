package page

import "github.com/ipn-receiver/ipn-receiver/internal/finance/access"

// A way leads to a page: looking at one changes nothing.
type way struct {
	path  string
	right access.Right // "": everybody, signed in or not
	view  view
}

// ways is the one list of pages.
func (p *Page) ways() []way {
	return []way{
		{"/", access.See, p.overview},
		{"/events", access.See, p.events},
		{"/events/search", access.See, p.events}, // where a search was posted
		{"/events/{id}", access.See, p.event},
		{"/transactions/{referenceNumber}", access.See, p.transaction},
		{"/stories", access.See, p.findStory},
		{"/stories/{number}", access.See, p.story},
		{"/money", access.See, p.money},

		{"/subscriptions", access.See, p.subscriptions},
		{"/subscriptions/{id}", access.See, p.subscription},
		{"/disputes", access.See, p.disputes},
		{"/payouts", access.See, p.payouts},
		{"/transfers", access.See, p.transfers},
		{"/tax", access.See, p.tax},
		{"/handlers", access.See, p.handlers},
		{"/handlers/{name}", access.See, p.handler},
		{"/quarantine", access.See, p.quarantine},
		{"/quarantine/{id}", access.See, p.post},
		{"/configuration", access.See, p.configuration},
		{"/audit", access.Audit, p.audit},
		{"/sign-in", "", p.signInForm},
	}
}

// A deed is what a form is posted to.
type deed struct {
	path  string
	right access.Right // "": everybody, signed in or not
	act   view
	from  view // the page that the form stands on; it finds the parts of the form's address
}

// deeds is the one list of forms.
func (p *Page) deeds() []deed {
	return []deed{
		{"/events/search", access.See, p.findPeople, p.events},
		{"/events/{id}/reveal", access.Reveal, p.reveal, p.event},
		{"/parked/redrive", access.Operate, p.redrive, p.handlers},
		{"/handlers/{name}/pause", access.Operate, p.pause, p.handler},
		{"/handlers/{name}/resume", access.Operate, p.resume, p.handler},
		{"/handlers/{name}/replay", access.Operate, p.replay, p.handler},
		{"/quarantine/{id}/reveal", access.Reveal, p.revealPost, p.post},
		{"/quarantine/{id}/promote", access.Operate, p.promote, p.post},
	}
}

// A section is an entry of the navigation.
type section struct {
	Path, Name string
	Right      access.Right
}

// sections are the navigation, in groups, from top to bottom.
var sections = [][]section{
	{{"/", "Overview", access.See}, {"/events", "Events", access.See}, {"/money", "Money", access.See}},
	{{"/subscriptions", "Subscriptions", access.See}, {"/disputes", "Disputes", access.See}, {"/payouts", "Payouts", access.See},
		{"/transfers", "Bank transfers", access.See}, {"/tax", "Tax records", access.See}},
	{{"/handlers", "Handlers", access.See}, {"/quarantine", "Quarantine", access.See}, {"/configuration", "Configuration", access.See},
		{"/audit", "Audit", access.Audit}},
}

package ipn

import (
	"encoding/json"
	"time"
)

// What started a look at the payment service's notification configuration: a closed set, the schema checks the same words.
const (
	ConfigurationAtStart    = "start"    // the program started
	ConfigurationAtInterval = "interval" // it was time to look again
	ConfigurationByCommand  = "command"  // a person typed it
)

// What came of the look: a closed set, the schema checks the same words.
const (
	ConfigurationInSync      = "in_sync"     // as desired; nothing was sent
	ConfigurationDrift       = "drift"       // different: nothing was to be sent, or the payment service keeps another one than it was sent
	ConfigurationReplaced    = "replaced"    // different, replaced, and read back as desired
	ConfigurationUnconfirmed = "unconfirmed" // sent, but what the payment service has now cannot be read
	ConfigurationRefused     = "refused"     // different in a way that only a person may overwrite; nothing was sent
	ConfigurationFailed      = "failed"      // the payment service, or the way to it, did not let it come to an end
	ConfigurationDeleted     = "deleted"     // taken away by a person
)

// ConfigurationTriggers returns what may start a look, in the order of a program's life.
func ConfigurationTriggers() []string {
	return []string{ConfigurationAtStart, ConfigurationAtInterval, ConfigurationByCommand}
}

// ConfigurationResults returns what may come of a look.
func ConfigurationResults() []string {
	return []string{ConfigurationInSync, ConfigurationDrift, ConfigurationReplaced, ConfigurationUnconfirmed,
		ConfigurationRefused, ConfigurationFailed, ConfigurationDeleted}
}

// ConfigurationPush is one look at the notification configuration that the payment service holds (specification section
// 2.8), and what was done about it. The documents are JSON objects, or nil; none holds a credential.
type ConfigurationPush struct {
	ID      int64     `json:"id"`
	At      time.Time `json:"at" doc:"When it was recorded, by the clock of the database"`
	Process string    `json:"process" doc:"The process that looked, host:pid"`
	Trigger string    `json:"trigger" enum:"start,interval,command" doc:"What started it"`
	Result  string    `json:"result" enum:"in_sync,drift,replaced,unconfirmed,refused,failed,deleted"`

	Desired json.RawMessage       `json:"desired,omitempty" doc:"The configuration that was wanted; absent where it was to be deleted"`
	Before  json.RawMessage       `json:"before,omitempty" doc:"What the payment service held; absent where it held nothing, or nothing that could be read"`
	After   json.RawMessage       `json:"after,omitempty" doc:"What was read back, or before where nothing was sent; absent where nothing could be read"`
	Changes []ConfigurationChange `json:"changes" doc:"Where before differed from desired"`
	Error   string                `json:"error,omitempty" doc:"What it failed with; no credential"`
}

// ConfigurationChange is one setting that differed.
type ConfigurationChange struct {
	Setting string `json:"setting" doc:"A send flag, ensureNotificationReceipt, receiveAffiliateNotifications, or ipnUrl for a whole destination" example:"sendCharge"`
	From    string `json:"from" doc:"What the payment service held; empty for nothing"`
	To      string `json:"to" doc:"What is wanted; empty for nothing"`
}

// ConfigurationState is what one process knows of the notification configuration since it started.
type ConfigurationState struct {
	Mode      string                `json:"mode" enum:"apply,plan,off" doc:"apply: replaces what differs. plan: only tells. off: does not look"`
	Service   string                `json:"service,omitempty" doc:"Host of the payment service" example:"pay.example.com"`
	InSync    *bool                 `json:"inSync,omitempty" doc:"Whether the payment service holds what is wanted; absent until it is known"`
	CheckedAt *time.Time            `json:"checkedAt,omitempty" doc:"When this process last looked"`
	Result    string                `json:"result,omitempty" enum:"in_sync,drift,replaced,unconfirmed,refused,failed,deleted" doc:"What came of it"`
	Error     string                `json:"error,omitempty" doc:"What it failed with; no credential"`
	Desired   json.RawMessage       `json:"desired,omitempty" doc:"The configuration that is wanted"`
	Actual    json.RawMessage       `json:"actual,omitempty" doc:"What the payment service held at the last look; absent where it was nothing, or could not be read"`
	Changes   []ConfigurationChange `json:"changes" doc:"Where it differed from the desired one"`
}

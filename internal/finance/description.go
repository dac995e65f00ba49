package finance

import (
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// commonDocs describe parameters that mean the same wherever they occur.
var commonDocs = map[string]string{
	"cursor": "nextCursor of the page before, unchanged, with the same filters",
	"limit":  "Items on the page",
	"id":     "As lists have it",
	"test":   "true: the book of test orders, which never enter the live one",
}

// completeDescription adds to the operations what all of them have in common: how they are refused, and parameters that mean
// the same everywhere.
func completeDescription(api *huma.OpenAPI) {
	problem := &huma.MediaType{Schema: api.Components.Schemas.Schema(reflect.TypeFor[huma.ErrorModel](), true, "ErrorModel")}
	for _, item := range api.Paths {
		for method, op := range map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodDelete: item.Delete} {
			if op == nil {
				continue
			}
			refused := http.StatusForbidden
			if method == http.MethodGet {
				refused = http.StatusNotFound // what somebody may not read looks like what does not exist
			}
			statuses := []int{http.StatusUnauthorized, refused, http.StatusServiceUnavailable}
			if len(op.Parameters) > 0 || op.RequestBody != nil {
				statuses = append(statuses, http.StatusUnprocessableEntity)
			}
			for _, status := range statuses {
				code := strconv.Itoa(status)
				if op.Responses[code] == nil {
					op.Responses[code] = &huma.Response{Description: http.StatusText(status), Content: map[string]*huma.MediaType{"application/problem+json": problem}}
				}
			}
			for _, p := range op.Parameters {
				if p.Description == "" {
					p.Description = commonDocs[p.Name]
				}
			}
		}
	}
}

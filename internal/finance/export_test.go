package finance

import (
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
)

// Guarded is an API as an Office mounts its operations on.
func Guarded(router chi.Router) huma.API {
	config := huma.DefaultConfig("x", "1")
	return guarded{humachi.New(router, config), config}
}

package ipn_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

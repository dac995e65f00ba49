package main

import (
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

func TestMigrateBringsTheSchemaUpToDateAndIsRepeatable(t *testing.T) {
	env := map[string]string{"IPN_DATABASE_URL_FILE": mustWrite(t, pgtest.NewEmpty(t)+"\n")}
	runProgram(t, env, "", "migrate").wants(t, exitOK, "migrated")
	runProgram(t, env, "", "migrate").wants(t, exitOK)
}

func TestMigrateTellsWhatItLacks(t *testing.T) {
	runProgram(t, nil, "", "migrate", "--embedded=off").wants(t, exitUsage, name("database-url"))
	runProgram(t, nil, "", "migrate", "--database-url=postgres://127.0.0.1:1/"+canary).wants(t, exitNo, "migrate")
}

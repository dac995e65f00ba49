package main

import (
	"context"

	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// migrateCommand brings the schema up to date, and ends.
type migrateCommand struct {
	DatabaseSetting `group:"database"`
	Process         `group:"process"`
}

func (c *migrateCommand) run(ctx context.Context, p *program) (int, error) {
	log := newLogger(&c.Process, p.stderr)
	database, err := openDatabase(ctx, &c.DatabaseSetting, log)
	if err != nil {
		return exitNo, err
	}
	defer database.close(log)
	return result(store.Migrate(ctx, database.dsn, log.Sugar().Infof))
}

// check reads the database URL and fills in the directories.
func (c *migrateCommand) check(m machine) error { return c.DatabaseSetting.check(m) }

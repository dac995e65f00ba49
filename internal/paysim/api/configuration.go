package api

func (d *door) registerConfiguration() {}

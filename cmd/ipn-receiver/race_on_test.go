//go:build race

package main

// raceDetector tells whether everything takes several times as long.
const raceDetector = true

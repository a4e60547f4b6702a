package watchdog

import "time"

// Sentences tell times of day as people here read them; the rows and transcripts were written in UTC.
func init() { time.Local = time.UTC }

package fakenode

import "strings"

// BootLog is what a rank writes when it starts.
func BootLog(c *Container) []LogLine {
	return []LogLine{
		Err("INFO [api_server.py] vLLM API server version 0.19.0"),
		Err("INFO [api_server.py] args: " + strings.Join(c.Config.Cmd, " ")),
		Out("INFO [parallel_state.py] distributed backend nccl"),
		Err("INFO [default_loader.py] Loading weights"),
	}
}

// CrashLog is what a rank writes when it dies.
func CrashLog() []LogLine {
	return []LogLine{
		Err("ERROR [multiproc_executor.py] WorkerProc hit an exception"),
		Err("RuntimeError: CUDA error: an illegal memory access was encountered"),
	}
}

// ShutdownLog is what a head writes when its engine has died under it.
func ShutdownLog() []LogLine {
	return []LogLine{
		Err("ERROR [multiproc_executor.py] Worker proc VllmWorker-0 died unexpectedly, shutting down executor."),
		Err("ERROR [core.py] EngineCore encountered a fatal error."),
		Err("vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause."),
		Err("INFO:     Application shutdown complete."),
		Err("INFO:     Finished server process [1]"),
	}
}

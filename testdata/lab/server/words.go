package main

import (
	"net"
	"os"
)

// version is that of the vLLM whose words these are.
const version = "0.19.0"

// engineDead is what a dead engine tells its clients.
const engineDead = "EngineCore encountered an issue. See stack trace (above) for the root cause."

const engineCore = "EngineCore_DP0"

// sayServing is how a head says that its API is open.
func sayServing(l *log, at net.Addr) {
	l.info("api_server.py:1977", "Starting vLLM API server 0 on http://%s", at)
	l.uvicorn("Started server process [%d]", os.Getpid())
	l.uvicorn("Waiting for application startup.")
	l.uvicorn("Application startup complete.")
}

// sayEngineDead is how the head reports that its engine is lost.
func sayEngineDead(l *log) {
	core := l.process(engineCore)
	core.fatal("multiproc_executor.py:261", "Worker proc VllmWorker-0 died unexpectedly, shutting down executor.")
	core.fatal("core.py:1108", "EngineCore encountered a fatal error.")
	l.fatal("async_llm.py:708", "AsyncLLM output_handler failed.")
	l.error("Traceback (most recent call last):")
	l.error("vllm.v1.engine.exceptions.EngineDeadError: %s", engineDead)
}

// sayShutdown is how a head leaves.
func sayShutdown(l *log) {
	l.uvicorn("Shutting down")
	l.uvicorn("Waiting for application shutdown.")
	l.uvicorn("Application shutdown complete.")
	l.uvicorn("Finished server process [%d]", os.Getpid())
}

// sayDeath is both: the process exits with 0 although its engine was killed under it.
func sayDeath(l *log) {
	sayEngineDead(l)
	sayShutdown(l)
}

// sayBootFailed is how a head gives up that has not served yet.
func sayBootFailed(l *log) {
	l.process(engineCore).fatal("core.py:1082", "EngineCore failed to start.")
	l.error("Traceback (most recent call last):")
	l.error("RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}")
}

func sayWorkerLeaves(l *log) {
	l.info("multiproc_executor.py:709", "Parent process exited, terminating worker")
}

// sayException is an exception in the middle of work.
func sayException(l *log) {
	l.fatal("multiproc_executor.py:822", "WorkerProc hit an exception.")
	l.process(engineCore).fatal("core.py:1108", "EngineCore encountered a fatal error.")
	l.error("Traceback (most recent call last):")
	l.error("RuntimeError: CUDA error: CUBLAS_STATUS_INTERNAL_ERROR when calling `cublasGemmEx`")
}

// sayPageFault is a crash in warm-up, with the line that the driver writes.
func sayPageFault(l *log) {
	l.bare("NVRM: Xid (PCI:000f:01:00): 31, pid=4242, name=VLLM::Worker, channel 0x00000008, intr 00000000. " +
		"MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f3a_2c000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ")
	l.error("Traceback (most recent call last):")
	l.error("torch.AcceleratorError: CUDA error: an illegal memory access was encountered")
	l.process(engineCore).fatal("core.py:1082", "EngineCore failed to start.")
}

// sayNoMemory is a start on a device that somebody else fills.
func sayNoMemory(l *log) {
	l.process(engineCore).fatal("core.py:1082", "EngineCore failed to start.")
	l.error("Traceback (most recent call last):")
	l.error("ValueError: Free memory on device cuda:0 (109.53/121.69 GiB) on startup is less than desired GPU memory " +
		"utilization (0.91, 110.74 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.")
}

module bench_sync_go

go 1.19

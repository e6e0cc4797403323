module io_go

go 1.19

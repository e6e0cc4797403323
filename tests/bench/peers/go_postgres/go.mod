module postgres_go

go 1.19

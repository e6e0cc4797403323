module curl_go

go 1.19

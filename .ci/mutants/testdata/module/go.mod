module m

go 1.26

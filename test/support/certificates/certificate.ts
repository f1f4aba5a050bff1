/**
 * A certificate for a server on this machine that calls itself pictures.example; worth nothing
 * anywhere else.
 */
export const certificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgeOUc1v5l2WaksmlI
Sh1OHenz4unH9Oa/iuCsH1vG4cWhRANCAARwxBx1vou+fDEmG/I9yxkydCO0y+RU
SFi/z6XpP0VOeHajfZO41ByD+mo1K0YIOI+Pc0gjISEtP2i0IGlaoFc5
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBiDCCAS2gAwIBAgIBATAKBggqhkjOPQQDAjAbMRkwFwYDVQQDDBBwaWN0dXJl
cy5leGFtcGxlMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAbMRkw
FwYDVQQDDBBwaWN0dXJlcy5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
QgAEcMQcdb6LvnwxJhvyPcsZMnQjtMvkVEhYv8+l6T9FTnh2o32TuNQcg/pqNStG
CDiPj3NIIyEhLT9otCBpWqBXOaNgMF4wLwYDVR0RBCgwJoIQcGljdHVyZXMuZXhh
bXBsZYISKi5waWN0dXJlcy5leGFtcGxlMAwGA1UdEwQFMAMBAf8wHQYDVR0OBBYE
FClZk/m3NqVP7sBJ5vcGjmUQSg4hMAoGCCqGSM49BAMCA0kAMEYCIQD4xgLfk2VU
YTcLEwcQ72iHMAizVd2cu6bO+N39Sm5oPgIhAPunk/vgOup70FRZ9iTF9jPimwZD
nNZUIxHrxAqzlueJ
-----END CERTIFICATE-----`,
};

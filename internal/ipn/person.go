package ipn

// PersonToken stands for an e-mail address or a name in an index that holds neither: it is a keyed hash, and without the key
// nobody can try names against it.
type PersonToken [16]byte

package db

// ruleid: hard-coded-credential
const dbPassword = "n0t-a-g00d-idea"

type account struct{ user, password string }

func make() account {
	a := account{user: "me"}
	// ruleid: hard-coded-credential
	a.password = "n0t2"
	return a
}

func whole() account {
	return account{
		user: "me",
		// ruleid: hard-coded-credential
		password: "an0ther-one",
	}
}

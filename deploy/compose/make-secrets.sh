#!/bin/sh
# Makes the secret files that docker-compose.yml names. Files that exist are left
# alone, so it can be run again. Each holds one value and no comment.
#   deploy/compose/make-secrets.sh
# The folder is closed to others; the files inside are readable, because the
# container's user (65532) is nobody on this machine.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
chmod 700 secrets
cd secrets

random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }

keep() { # name value
  if [ -e "$1" ]; then
    echo "kept  deploy/compose/secrets/$1"
    return
  fi
  (umask 077 && printf '%s\n' "$2" >"$1")
  chmod 444 "$1"
  echo "made  deploy/compose/secrets/$1"
}

keep postgres_password "$(random)"
# Inside the compose network, which has no way out, the connection is not encrypted.
keep database_url "postgres://ipn:$(cat postgres_password)@postgres:5432/ipn?sslmode=disable"
keep signing_secrets "$(random)"
keep api_token "$(random)"

echo
echo "Enter the value of signing_secrets in the payment service's portal as the key of the security header,"
echo "or put the key that the portal generated into that file. Then: docker compose up --build --wait"

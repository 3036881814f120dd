package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"flag"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// identities are the clients of the API server: file name, user, groups.
var identities = []struct{ file, user, group string }{
	{"admin", "admin", "system:masters"},
	{"kube-controller-manager", "system:kube-controller-manager", ""},
	{"kube-scheduler", "system:kube-scheduler", ""},
	{"kubelet-client", "kube-apiserver-kubelet-client", "system:masters"},
}

// writeCertificates makes an authority and what it signs: ca.crt, apiserver.{crt,key}, one pair for each identity and
// each node, and service-accounts.{key,pub}.
func writeCertificates(args []string) error {
	flags := flag.NewFlagSet("certificates", flag.ExitOnError)
	folder := flags.String("folder", "", "where they are written")
	hosts := flags.String("hosts", "127.0.0.1", "addresses and names of the API server, separated by commas")
	nodes := flags.String("nodes", "", "names of nodes, separated by commas")
	flags.Parse(args)
	if err := os.MkdirAll(*folder, 0o700); err != nil {
		return err
	}

	authority, authorityKey, err := issue(*folder, "ca", &x509.Certificate{
		Subject:               pkix.Name{CommonName: "cluster"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}, nil, nil)
	if err != nil {
		return err
	}
	server := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
	}
	for _, host := range strings.Split(*hosts, ",") {
		if ip := net.ParseIP(host); ip != nil {
			server.IPAddresses = append(server.IPAddresses, ip)
		} else {
			server.DNSNames = append(server.DNSNames, host)
		}
	}
	if _, _, err := issue(*folder, "apiserver", server, authority, authorityKey); err != nil {
		return err
	}
	clients := identities
	for _, node := range strings.FieldsFunc(*nodes, func(r rune) bool { return r == ',' }) {
		clients = append(clients, struct{ file, user, group string }{"node-" + node, "system:node:" + node, "system:nodes"})
	}
	for _, client := range clients {
		name := pkix.Name{CommonName: client.user}
		if client.group != "" {
			name.Organization = []string{client.group}
		}
		template := &x509.Certificate{Subject: name, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
		if _, _, err := issue(*folder, client.file, template, authority, authorityKey); err != nil {
			return err
		}
	}
	return writeServiceAccountKey(*folder)
}

// issue signs a template, or lets it sign itself if there is no authority, and writes NAME.crt and NAME.key.
func issue(folder, name string, template, authority *x509.Certificate, authorityKey crypto.Signer) (*x509.Certificate, crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, nil, err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().Add(7 * 24 * time.Hour)
	if template.KeyUsage == 0 {
		template.KeyUsage = x509.KeyUsageDigitalSignature
	}
	if authority == nil {
		authority, authorityKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, authority, key.Public(), authorityKey)
	if err != nil {
		return nil, nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, err
	}
	if err := writePEM(filepath.Join(folder, name+".crt"), "CERTIFICATE", der); err != nil {
		return nil, nil, err
	}
	return certificate, key, writeKey(filepath.Join(folder, name+".key"), key)
}

func writeServiceAccountKey(folder string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := writePEM(filepath.Join(folder, "service-accounts.pub"), "PUBLIC KEY", public); err != nil {
		return err
	}
	return writeKey(filepath.Join(folder, "service-accounts.key"), key)
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, "EC PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

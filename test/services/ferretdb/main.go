// Serves MongoDB's wire protocol from a folder of SQLite files, for tests: ferretdb <host:port> <folder>.
//
// MongoDB changes one document atomically: the condition of an update is judged and the update done in one step. FerretDB 1 looks
// first and writes afterwards, so that two clients may both see their condition met. Requests are therefore let through one at a time.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

// A message of the protocol is no longer than this.
const messageMax = 48_000_000

func main() {
	inside, err := net.Listen("tcp", "127.0.0.1:0")
	exitOn(err)
	address := inside.Addr().String()
	exitOn(inside.Close())
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: address},
		Handler:   "sqlite",
		SQLiteURL: "file:" + os.Args[2] + "/",
	})
	exitOn(err)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		outside, err := net.Listen("tcp", os.Args[1])
		exitOn(err)
		for {
			client, err := outside.Accept()
			exitOn(err)
			go serve(client, address)
		}
	}()
	exitOn(server.Run(ctx))
}

var turn sync.Mutex

// serve passes on what one client asks, question by question.
func serve(client net.Conn, address string) {
	defer client.Close()
	inside, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer inside.Close()
	for {
		question, err := read(client)
		if err != nil {
			return
		}
		answer, err := ask(inside, question)
		if err != nil {
			return
		}
		if _, err := client.Write(answer); err != nil {
			return
		}
	}
}

func ask(inside net.Conn, question []byte) ([]byte, error) {
	turn.Lock()
	defer turn.Unlock()
	if _, err := inside.Write(question); err != nil {
		return nil, err
	}
	return read(inside)
}

func read(from io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return nil, err
	}
	length := binary.LittleEndian.Uint32(head[:])
	if length < 16 || length > messageMax {
		return nil, fmt.Errorf("a message of %d bytes", length)
	}
	message := make([]byte, length)
	copy(message, head[:])
	_, err := io.ReadFull(from, message[4:])
	return message, err
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

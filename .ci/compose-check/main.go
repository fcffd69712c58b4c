// Loads docker-compose.yml as Compose does, prints what it means, and checks what Compose and the engine
// check only when they start it.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	options, err := cli.NewProjectOptions(os.Args[1:], cli.WithOsEnv, cli.WithProfiles([]string{"*"}))
	if err == nil {
		project, loadErr := options.LoadProject(context.Background())
		err = loadErr
		if err == nil {
			text, _ := project.MarshalYAML()
			fmt.Print(string(text))
			err = startFaults(project)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

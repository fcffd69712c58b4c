package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/compose-spec/compose-go/v2/types"
)

// startFaults returns what would fail, or be ignored, when the services start.
func startFaults(project *types.Project) error {
	var faults []error
	builders := map[string]string{}
	for _, name := range project.ServiceNames() {
		service := project.Services[name]
		fault := func(format string, values ...any) {
			faults = append(faults, fmt.Errorf("services.%s: %s", name, fmt.Sprintf(format, values...)))
		}
		for _, one := range service.Configs {
			checkFile(fault, service, "config", types.FileReferenceConfig(one), types.FileObjectConfig(project.Configs[one.Source]))
		}
		for _, one := range service.Secrets {
			checkFile(fault, service, "secret", types.FileReferenceConfig(one), types.FileObjectConfig(project.Secrets[one.Source]))
		}
		checkBuild(fault, project, service, builders)
		checkScale(fault, service)
		for needed, how := range service.DependsOn {
			checkDependency(fault, needed, how, project.Services[needed])
		}
		for _, other := range project.ServiceNames() {
			checkNames(fault, project, service, project.Services[other])
		}
	}
	return errors.Join(faults...)
}

// Compose copies a file that has no source on the machine into the container, which a read-only one refuses,
// and mounts any other one, with the owner and the mode that it has on the machine.
func checkFile(fault func(string, ...any), service types.ServiceConfig, kind string, use types.FileReferenceConfig, file types.FileObjectConfig) {
	inline := file.Content != "" || file.Environment != ""
	target := use.Target
	switch {
	case bool(file.External):
		fault("the %s %s is external, which Compose does not support", kind, use.Source)
	case inline && service.ReadOnly:
		fault("the %s %s has no file, and the service is read-only", kind, use.Source)
	case !inline && (use.UID != "" || use.GID != "" || use.Mode != nil):
		fault("uid, gid and mode of the %s %s are ignored, because it is a file", kind, use.Source)
	}
	for _, mount := range service.Tmpfs {
		folder, _, _ := strings.Cut(mount, ":")
		if inline && strings.HasPrefix(target, folder+"/") {
			fault("the %s %s is hidden by the tmpfs %s", kind, use.Source, folder)
		}
	}
}

// Each service that builds a tag makes an image of its own, and the next `up` recreates the others.
func checkBuild(fault func(string, ...any), project *types.Project, service types.ServiceConfig, builders map[string]string) {
	if service.Build != nil {
		if other, ok := builders[service.Image]; ok {
			fault("%s builds the image %s too", other, service.Image)
		}
		builders[service.Image] = service.Name
		return
	}
	for _, other := range project.Services {
		if other.Build != nil && other.Image == service.Image && service.PullPolicy != types.PullPolicyNever {
			fault("pull_policy is not never, and %s builds the image %s", other.Name, service.Image)
		}
	}
}

func checkScale(fault func(string, ...any), service types.ServiceConfig) {
	if service.GetScale() < 2 {
		return
	}
	if service.ContainerName != "" {
		fault("several containers cannot have one name")
	}
	for _, port := range service.Ports {
		if port.Published != "" {
			fault("several containers cannot have the port %s", port.Published)
		}
	}
}

func checkDependency(fault func(string, ...any), needed string, how types.ServiceDependency, service types.ServiceConfig) {
	switch how.Condition {
	case types.ServiceConditionHealthy:
		// The Dockerfile of the project has a health check.
		if service.HealthCheck == nil && !strings.HasPrefix(service.Image, "payments-gateway:") {
			fault("%s has no health check to wait for", needed)
		}
	case types.ServiceConditionCompletedSuccessfully:
		if service.Restart == types.RestartPolicyAlways || service.Restart == types.RestartPolicyUnlessStopped {
			fault("%s starts again when it ends, so it never completes", needed)
		}
	}
}

// The name of a service has one address for each network that both share, and the engine answers with that of a
// network that leads out first. There, enable_icc=false drops what one container sends to another.
func checkNames(fault func(string, ...any), project *types.Project, service types.ServiceConfig, other types.ServiceConfig) {
	if len(service.Ports) == 0 || service.Name == other.Name {
		return
	}
	var open, closed string
	for name := range service.Networks {
		if _, shared := other.Networks[name]; !shared {
			continue
		}
		if project.Networks[name].DriverOpts["com.docker.network.bridge.enable_icc"] == "false" {
			closed = name
		} else {
			open = name
		}
	}
	if open != "" && closed != "" {
		fault("%s cannot call it on the network %s, because both are on %s too, where nothing reaches its neighbours", other.Name, open, closed)
	}
}

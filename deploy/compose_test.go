// Package deploy holds no program of its own: these tests hold compose.yaml and the Containerfiles against the contract
// and against each other, as far as that goes without a container engine.
package deploy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// The ports of the contract. The sidecar is for the component alone, the store for the builds alone.
var ports = map[string]string{
	"gin": "8080", "dotnet-mvc": "8081", "rust": "8082", "component": "8083", "nethttp": "8084", "iris": "8085",
	"iris-mvc": "8086", "dotnet-minimal": "8087", "node": "8088", "spin": "3000", "sidecar": "", "mongo": "",
}

func load(t *testing.T) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{"compose.yaml"}, cli.WithResolvedPaths(true))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func TestEveryServiceIsThereOnItsPort(t *testing.T) {
	project := load(t)
	if len(project.Services) != len(ports) {
		t.Errorf("services %v", project.ServiceNames())
	}
	for name, port := range ports {
		var published []string
		for _, p := range project.Services[name].Ports {
			published = append(published, p.HostIP+":"+p.Published+":"+fmt.Sprint(p.Target))
		}
		var want []string
		if port != "" {
			want = []string{"127.0.0.1:" + port + ":" + port}
		}
		if !slices.Equal(published, want) {
			t.Errorf("%s publishes %v, want %v", name, published, want)
		}
	}
}

func TestServersHaveOneCPUAndHalfAGigabyteAndTheStoreHasNoLimit(t *testing.T) {
	for name, service := range load(t).Services {
		cpus, memory := float32(1), types.UnitBytes(512<<20)
		if name == "mongo" {
			cpus, memory = 0, 0
		}
		if service.CPUS != cpus || service.MemLimit != memory || service.MemSwapLimit != memory {
			t.Errorf("%s: %v CPUs, %d bytes, with swap %d", name, service.CPUS, service.MemLimit, service.MemSwapLimit)
		}
	}
}

func TestEveryServiceIsLockedDownAndWatched(t *testing.T) {
	for name, service := range load(t).Services {
		if !service.ReadOnly {
			t.Errorf("%s may write to its image", name)
		}
		if service.User == "" || service.User == "0" || service.User == "root" {
			t.Errorf("%s runs as root", name)
		}
		if !slices.Equal(service.CapDrop, []string{"ALL"}) || !slices.Equal(service.SecurityOpt, []string{"no-new-privileges:true"}) {
			t.Errorf("%s keeps privileges", name)
		}
		if service.HealthCheck == nil || len(service.HealthCheck.Test) < 2 || service.HealthCheck.Test[0] != "CMD" {
			t.Errorf("%s has no health check that runs without a shell", name)
		}
	}
}

func TestOnlyTheSidecarLeadsFromTheComponentToTheStore(t *testing.T) {
	for name, service := range load(t).Services {
		_, store := service.Networks["store"]
		_, sidecar := service.Networks["sidecar"]
		isComponent := name == "component" || name == "spin"
		if isComponent && (store || !sidecar) || !isComponent && !store {
			t.Errorf("%s is in %v", name, service.Networks)
		}
	}
}

func TestWhatIsMountedAndBuiltFromExists(t *testing.T) {
	for name, service := range load(t).Services {
		for _, volume := range service.Volumes {
			if volume.Type == types.VolumeTypeBind {
				if _, err := os.Stat(volume.Source); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		if service.Build == nil {
			continue
		}
		file := parse(t, filepath.Join(service.Build.Context, service.Build.Dockerfile))
		if target := service.Build.Target; target != "" && !file.hasStage(target) {
			t.Errorf("%s: %s has no stage %q", name, service.Build.Dockerfile, target)
		}
		for argument := range service.Build.Args {
			if !file.hasArgument(argument) {
				t.Errorf("%s: %s takes no argument %q", name, service.Build.Dockerfile, argument)
			}
		}
	}
}

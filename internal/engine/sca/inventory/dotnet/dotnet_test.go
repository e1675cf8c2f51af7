package dotnet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

var solution = map[string]string{
	"Directory.Packages.props": `<Project>
<PropertyGroup><ManagePackageVersionsCentrally>true</ManagePackageVersionsCentrally><Ef>8.0.1</Ef></PropertyGroup>
<ItemGroup>
<PackageVersion Include="A" Version="1.0.0" />
<PackageVersion Include="Ef.Core" Version="$(Ef)" />
<PackageVersion Include="Unused " Version=" 3.0.0" />
<GlobalPackageReference Include="Analyzer" Version="2.0.0" PrivateAssets="All" />
</ItemGroup></Project>`,
	"Directory.Build.props": `<Project><Import Project="$(MSBuildThisFileDirectory)eng\Versions.props" /></Project>`,
	"eng/Versions.props":    `<Project><PropertyGroup><Moq>4.18.4</Moq></PropertyGroup></Project>`,
	"other/Packages.props":  `<Project><ItemGroup><PackageVersion Include="A" Version="1.0.0" /></ItemGroup></Project>`,
	"src/app.csproj": `<Project Sdk="Microsoft.NET.Sdk">
<PropertyGroup><Own>5.0.0</Own></PropertyGroup>
<ItemGroup>
<PackageReference Include="a" />
<PackageReference Include="Ef.Core" />
<PackageReference Include="Moq"><Version>$(Moq)</Version><PrivateAssets>all</PrivateAssets></PackageReference>
<PackageReference Include="Own" Version="$(Own)" />
<PackageReference Include="Over" Version="1.0.0" VersionOverride="1.2.0" />
<PackageReference Include="Range" Version="[6.0.0,7.0.0)" />
<PackageReference Include="Float" Version="6.*" />
<PackageReference Include="None" />
</ItemGroup></Project>`,
}

func ask(t *testing.T, file string) string {
	t.Helper()
	s := New([]string{"src/app.csproj"}, func(name string) []byte {
		if text, ok := solution[name]; ok {
			return []byte(text)
		}
		return nil
	})
	list, err := s.Requirements(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range list {
		line := fmt.Sprintf("%d:%s@%s", r.Line, r.Name, r.Version)
		if r.Dev {
			line += "!"
		}
		out = append(out, line)
	}
	return strings.Join(out, " ")
}

func TestRequirements(t *testing.T) {
	for file, want := range map[string]string{
		"src/app.csproj": "4:a@1.0.0 5:Ef.Core@8.0.1 6:Moq@4.18.4! 7:Own@5.0.0 8:Over@1.2.0 9:Range@6.0.0 " +
			"10:Float@ 11:None@",
		"Directory.Packages.props": "6:Unused@3.0.0 7:Analyzer@2.0.0!",
		"eng/Versions.props":       "",
		"other/Packages.props":     "1:A@1.0.0", // no project below it asks for it
	} {
		if got := ask(t, file); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", file, got, want)
		}
	}
}

func TestReads(t *testing.T) {
	var got []string
	for _, file := range []string{"a.csproj", "x/b.vbproj", "c.fsproj", "Directory.Packages.props", "Packages.props",
		"other.props", "d.nuspec"} {
		if Reads(file) {
			got = append(got, file)
		}
	}
	if want := []string{"a.csproj", "x/b.vbproj", "c.fsproj", "Directory.Packages.props",
		"Packages.props"}; !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

// FuzzRequirements gives hostile projects to the reader.
func FuzzRequirements(f *testing.F) {
	f.Add(solution["src/app.csproj"], solution["Directory.Packages.props"])
	f.Add(`<Project><Import Project="app.csproj"/><Import Project="../Directory.Packages.props"/></Project>`,
		`<Project><PropertyGroup><A>$(A)$(B)</A><B>$(A)</B></PropertyGroup></Project>`)
	f.Fuzz(func(t *testing.T, project, central string) {
		s := New([]string{"src/app.csproj"}, func(name string) []byte {
			return map[string][]byte{"src/app.csproj": []byte(project), Central: []byte(central)}[name]
		})
		for file, text := range map[string]string{"src/app.csproj": project, Central: central} {
			list, err := s.Requirements(file)
			if err != nil {
				continue
			}
			for _, r := range list {
				if r.Line < 1 || r.Line > 1+strings.Count(text, "\n") || strings.Contains(r.Version, "$") {
					t.Errorf("got %+v", r)
				}
			}
		}
	})
}

import React, { useState, useEffect, useContext, createContext } from "react";
import { useSearchParams } from "react-router-dom";

const Title = createContext("");

function Box(props: { text: string; html: string }) {
  return (
    <div title={props.text}>
      {props.text}
      {/* ruleid: cross-site-scripting-dom */}
      <p dangerouslySetInnerHTML={{ __html: props.html }} />
    </div>
  );
}

export function Search() {
  const [params] = useSearchParams();
  const [shown, setShown] = useState("");
  useEffect(() => setShown(window.location.hash), []);
  return (
    <Title.Provider value={window.location.search}>
      <Box text={params.get("q")!} html={params.get("q")!} />
      {/* ruleid: cross-site-scripting-dom */}
      <p dangerouslySetInnerHTML={{ __html: shown }} />
      {/* ok: cross-site-scripting-dom */}
      <a href={`/users/${params.get("user")}`}>user</a>
      {/* ruleid: cross-site-scripting-dom */}
      <a href={params.get("next")!}>next</a>
      <Heading />
    </Title.Provider>
  );
}

function Heading() {
  const title = useContext(Title);
  // ruleid: cross-site-scripting-dom
  return <h1 dangerouslySetInnerHTML={{ __html: title }} />;
}

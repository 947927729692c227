//! Uses sockets of the standard library: sends `ping` to the address in its query over `/tcp` or `/udp` and answers with
//! what comes back; `/listen` listens there; `/name` resolves a name.
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs, UdpSocket};

use guests::{Answer, text, wasip3::http::types::Request};

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    let target = guests::path(&request);
    let (path, address) = target.split_once('?').unwrap_or((&target, ""));
    let result = match path {
        "/tcp" => tcp(address),
        "/udp" => udp(address),
        "/listen" => TcpListener::bind(address).map(|_| "listening".to_owned()),
        "/name" => address.to_socket_addrs().map(|found| format!("{} found", found.count())),
        _ => Ok("ok".to_owned()),
    };
    match result {
        Ok(answer) => text(200, answer),
        Err(error) => text(200, format!("{:?}", error.kind())),
    }
}

fn tcp(address: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(b"ping")?;
    let mut answer = [0; 4];
    stream.read_exact(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn udp(address: &str) -> std::io::Result<String> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.connect(address)?;
    socket.send(b"ping")?;
    let mut answer = [0; 4];
    socket.recv(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
